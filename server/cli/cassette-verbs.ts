/** `sluice record` and `sluice replay`: run a program with its own gateway and a cassette for its exchanges. */

import { type Command, InvalidArgumentError, Option } from 'commander';
import { parsePace } from '../cassettes/pace.ts';
import { type CassetteMode, cassetteModes } from '../contract/cassette.ts';
import type { Examples } from './examples.ts';
import { notes } from './help.ts';
import type { RunChoices } from './run-program.ts';
import type { Terminal } from './terminal.ts';

interface CassetteFlags extends RunChoices {
  cassette: string;
  pace: number;
  newOnly?: boolean;
  config?: string;
  dataDir?: string;
}

const recordHelp = `
The program gets the variables of "sluice run", and a gateway of its own with the providers of the data folder. What is recorded
again replaces its recording; --new-only replays what is there, and asks providers for the rest alone. Secrets are removed from the
files. Requests are not added to the ledger.

The exit code is the program's, or 1 if a recording could not be written.`;

const replayHelp = `
The program gets the variables of "sluice run", and a gateway of its own that answers from the cassette alone: it needs no
network, no provider and no data folder. A request without a recording gets an error that names the nearest one.

The exit code is the program's, or 1 if a request had no recording.`;

export const cassetteExamples: Examples = {
  record: [
    'sluice record --cassette cassettes -- npm test',
    'sluice record --cassette cassettes --new-only -- npm test',
  ],
  replay: [
    'sluice replay --cassette cassettes -- npm test',
    'sluice replay --cassette cassettes --pace recorded -- python chat.py',
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
  const replay = cassetteVerb(
    program,
    'replay',
    'start a program whose requests are answered from a cassette',
  ).addHelpText('after', notes(replayHelp));
  replay.action(() => run('replay', replay, terminal));
}

function cassetteVerb(program: Command, name: string, description: string): Command {
  return program
    .command(name)
    .argument('<command...>', 'the program and its arguments, best after "--"')
    .description(description)
    .requiredOption('--cassette <folder>', 'the folder of the recordings')
    .addOption(paceOption())
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
  const { cassette, pace, config, dataDir, ...choices } = verb.opts<CassetteFlags>();
  const { runWithCassette } = await import('./run-with-cassette.ts');
  const options = { mode, folder: cassette, pace, configFile: config, dataDir };
  process.exitCode = await runWithCassette(verb.args, choices, { ...options, terminal });
}
