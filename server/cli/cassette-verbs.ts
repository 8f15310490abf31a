/** `sluice record` and `sluice replay`: run a program with its own gateway and a cassette for its exchanges. */
import { stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type CassetteMode, type CassetteView, cassetteModes } from '../contract/cassette.ts';
import { counted } from '../contract/units.ts';
import type { Pace } from '../exchange/answer/local-reply.ts';
import { describeFileProblem } from '../ground/files/regular-file.ts';
import type { Control } from './control.ts';
import { type Examples, notes } from './help.ts';
import { createOutput } from './output.ts';
import { CliError } from './programs/exit-codes.ts';
import type { RunChoices } from './run-program.ts';
import { number, table } from './shown.ts';
import type { Terminal } from './terminal.ts';
import type { Verbs } from './verb.ts';

interface CassetteFlags extends RunChoices {
  cassette: string;
  pace: number;
  newOnly?: boolean;
  json?: boolean;
  failOnUnused?: boolean;
  config?: string;
  dataDir?: string;
}

const recordHelp = `
The program gets the variables of "sluice run", and a gateway of its own with the providers of the data folder. What is recorded
again replaces its recording; --new-only replays what is there, and asks providers for the rest alone. Secrets are removed from the
files. Requests are not added to the ledger.

A test that sends its name in the header x-sluice-test has recordings of its own. Only one "record" at a time uses a cassette.

The exit code is the program's, or 1 if a recording could not be written.`;

const replayHelp = `
The program gets the variables of "sluice run", and a gateway of its own that answers from the cassette alone: it needs no
network, no provider and no data folder. A request without a recording gets an error that names the nearest one.

A test that sends its name in the header x-sluice-test is answered from its own recordings alone.

The exit code is the program's, or 1 if a request had no recording.`;

export const cassetteExamples: Examples = {
  record: [
    'sluice record --cassette cassettes -- npm test',
    'sluice record --cassette cassettes --new-only -- npm test',
  ],
  replay: [
    'sluice replay --cassette cassettes -- npm test',
    'sluice replay --cassette cassettes --pace recorded -- python chat.py',
    'sluice replay --cassette cassettes --fail-on-unused --json -- pytest -n 4',
  ],
};

export function addCassetteVerbs(program: Command, terminal: Terminal): void {
  const record = cassetteVerb(
    program,
    'record',
    'start a program and record its requests to models, for "sluice replay"',
  )
    .option('--new-only', 'replay what has been recorded, and record only new requests')
    .option('--group <id>', 'the group of its key (default: default)')
    .option('--config <file>', 'use a declarative configuration instead of that of the data folder')
    .option('--data-dir <folder>', 'the data folder')
    .addHelpText('after', notes(recordHelp));
  record.action(async () => {
    const flags = record.opts<CassetteFlags>();
    await run(flags.newOnly ? 'replay-or-record' : 'record', record, terminal);
  });
  const replay = cassetteVerb(program, 'replay', 'start a program whose requests are answered from a cassette')
    .option('--fail-on-unused', 'end with 1 if a recording was not asked for')
    .addHelpText('after', notes(replayHelp));
  replay.action(() => run('replay', replay, terminal));
}

function cassetteVerb(program: Command, name: string, description: string): Command {
  return program
    .command(name)
    .argument('<command...>', 'the program and its arguments, best after "--"')
    .description(description)
    .requiredOption('--cassette <folder>', 'the folder of the recordings')
    .addOption(paceOption())
    .option('--json', 'print the summary as JSON, as the last line of the standard output')
    .option('--model <name>', 'the model, for programs that take it from their environment')
    .passThroughOptions();
}

export function cassetteModeOption(): Option {
  return new Option('--cassette-mode <mode>', 'how the cassette is used')
    .choices(cassetteModes)
    .default('replay-or-record');
}

export function paceOption(): Option {
  return new Option('--pace <pace>', 'the speed of replayed streams: instant, recorded, or a factor such as 2')
    .default(0, 'instant')
    .argParser((text) => {
      const pace = parsePace(text);
      if (pace === undefined)
        throw new InvalidArgumentError('A pace is instant, recorded or a number above 0, at most 1000.');
      return pace;
    });
}

async function run(mode: CassetteMode, verb: Command, terminal: Terminal): Promise<void> {
  const { cassette, pace, config, dataDir, json, failOnUnused, ...choices } = verb.opts<CassetteFlags>();
  const { runWithCassette } = await import('./run-with-cassette.ts');
  const options = { mode, folder: cassette, pace, configFile: config, dataDir, isJson: json, failOnUnused };
  process.exitCode = await runWithCassette(verb.args, choices, { ...options, terminal });
}

export const cassetteUseExamples: Examples = {
  'cassette status': ['sluice cassette status', 'sluice cassette status --json'],
  'cassette rewind': ['sluice cassette rewind', 'sluice cassette rewind --cassette cassettes'],
};

/** `sluice cassette status` and `rewind`: the cassettes that groups and keys of a running Sluice use. */
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

export const cassetteExportExamples: Examples = {
  'cassette export': [
    'sluice cassette export cassettes exchanges.har',
    'sluice cassette export cassettes/checkout checkout.har',
  ],
};

/** `sluice cassette export`: recordings as an HTTP Archive. */
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

const maxFactor = 1_000;

/**
 * `instant`: all at once; `recorded`: at the recorded times; a number: that many times as fast. Undefined for anything
 * else.
 */
function parsePace(text: string): Pace | undefined {
  if (text === 'instant') return 0;
  if (text === 'recorded') return 1;
  const factor = /^\d{1,4}(?:\.\d{1,3})?$/.test(text) ? Number(text) : 0;
  return factor > 0 && factor <= maxFactor ? 1 / factor : undefined;
}
