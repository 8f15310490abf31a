/** `sluice cassette status` and `rewind`: the cassettes that groups and keys of a running Sluice use. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { CassetteView } from '../contract/cassette.ts';
import type { Control } from './control.ts';
import type { Examples } from './examples.ts';
import { CliError } from './programs/exit-codes.ts';
import { number, table } from './shown.ts';
import type { Verbs } from './verb.ts';

export const cassetteUseExamples: Examples = {
  'cassette status': ['sluice cassette status', 'sluice cassette status --json'],
  'cassette rewind': ['sluice cassette rewind', 'sluice cassette rewind --cassette cassettes'],
};

export function addCassetteUseVerbs(cassette: Command, { on }: Verbs): void {
  const status = cassette.command('status').description('show the cassettes of groups and keys, and what they did');
  on(status, async ({ control, output }) => {
    requireRunning(control);
    const views = await control.query({ type: 'cassettes' });
    for (const { problem } of views) if (problem !== null) output.note(problem);
    output.show(views, table(columns, views.map(row), 'No group and no key has a cassette.'));
  });
  const rewind = cassette
    .command('rewind')
    .description('restart them: from the first of equal recordings, with reread files')
    .option('--cassette <folder>', 'only the one in this folder');
  on<{ cassette?: string }>(rewind, async ({ control, output }, _, { cassette: folder }) => {
    requireRunning(control);
    const result = await control.execute({
      type: 'cassette.rewind',
      ...(folder !== undefined && { folder: resolve(folder) }),
    });
    output.show(result, 'Rewound.');
  });
}

const columns = ['folder', 'mode', ...['recordings', 'replayed', 'missed', 'recorded', 'not written'].map(number)];

function row({ folder, mode, recordings, hits, misses, recorded, failed }: CassetteView): string[] {
  return [
    folder,
    mode,
    recordings === null ? 'not open' : String(recordings),
    ...[hits, misses, recorded, failed].map(String),
  ];
}

function requireRunning({ origin }: Control): void {
  if (origin === null) throw new CliError('Sluice is not running, so no cassette is in use.');
}
