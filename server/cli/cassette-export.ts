/** `sluice cassette export`: recordings as an HTTP Archive. */
import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { counted } from '../contract/counted.ts';
import { describeFileProblem } from '../ground/files/file-problem.ts';
import type { Examples } from './examples.ts';
import { createOutput } from './output.ts';
import { CliError } from './programs/exit-codes.ts';
import type { Terminal } from './terminal.ts';

export const cassetteExportExamples: Examples = {
  'cassette export': [
    'sluice cassette export cassettes exchanges.har',
    'sluice cassette export cassettes/checkout checkout.har',
  ],
};

export function addCassetteExport(cassette: Command, terminal: Terminal): void {
  const output = createOutput(terminal, false);
  cassette
    .command('export')
    .argument('<folder>', 'the cassette')
    .argument('<file>', 'the HTTP Archive to write')
    .description('write the recordings of a cassette to an HTTP Archive (HAR)')
    .action(async (folder: string, file: string) => {
      const count = await exportHar(folder, file);
      output.note(`Exported ${counted(count, 'recording')} to ${file}.`);
    });
}

/** Resolves with the number of recordings. */
async function exportHar(folder: string, file: string): Promise<number> {
  const { listRecordings, readRecording } = await import('../cassettes/cassette-files.ts');
  const { toHar } = await import('../cassettes/har.ts');
  const names = await listRecordings(folder);
  const exchanges = [];
  for (const name of names) {
    const { mtime: date } = await stat(join(folder, name));
    exchanges.push({ exchange: await readRecording(folder, name), date });
  }
  await writeFile(file, `${JSON.stringify(toHar(exchanges), null, 2)}\n`).catch((error: unknown) => {
    throw new CliError(`${file} cannot be written: ${describeFileProblem(error)}.`);
  });
  return names.length;
}
