/** `sluice faults`: the faults that client programs can be made to meet, and when. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type FaultProfileName, faultProfileNames, type TimedFaultsView } from '../contract/faults.ts';
import { FaultTextError, parseRule } from '../faults/parse-rule.ts';
import { type Examples, notes } from './help.ts';
import type { JudgeOptions } from './judge-program.ts';
import { createOutput, type Output } from './output.ts';
import { CliError, exitCodes } from './programs/exit-codes.ts';
import { type RunOptions, runHere } from './run.ts';
import type { AroundRun } from './run-program.ts';
import { localTime, table } from './shown.ts';
import type { Terminal } from './terminal.ts';
import type { Verbs } from './verb.ts';
import { didYouMean } from './wrong-usage.ts';

const judgeHelp = `
The program runs once for each fault, at a Sluice of its own with a built-in provider of chats that takes any model, and costs
nothing. It should make at least one request, and end with 0 only if it got a whole answer. The exit code is 1 if it hung, or ended
with 0 without a whole answer.`;

const judgeExamples: Examples = {
  'faults judge': [
    'sluice faults judge -- node ask.js',
    'sluice faults judge --only "rate limit" --show -- node ask.js',
    'sluice faults judge --timeout 120 --json -- python agent.py',
  ],
};

/** `sluice faults judge`. */
function addJudge(faults: Command, terminal: Terminal, parseSeconds: (text: string) => number): void {
  const command = faults
    .command('judge')
    .argument('<command...>', 'the program and its arguments, best after "--"')
    .description('run a program once for each known fault, and report how it copes')
    .option('--model <name>', 'the model, for programs that take it from their environment', 'judge-model')
    .option('--timeout <seconds>', 'how long each run may take', parseSeconds, 60)
    .option('--only <text>', 'only the faults with this in their name')
    .option('--show', 'show what the program prints')
    .option('--json', 'print JSON')
    .addHelpText('after', notes(judgeHelp))
    .passThroughOptions();
  command.action(async () => {
    const { judge } = await import('./judge-program.ts');
    await judge(command.args, command.opts<JudgeOptions>(), terminal);
  });
}

interface Scope {
  key?: string;
  group?: string;
}

/** Which faults are met. */
interface Choice {
  profile?: FaultProfileName;
  fault?: string[];
  seed?: number;
}

const ruleHelp = `
A rule is a fault with its parameters and with the requests that meet it: share=0.1, nth=3, every=5, first=2, model=gpt-*,
route=/chat/completions. Without any of these, every request meets it. Faults of several rules act together.`;

export const faultExamples: Examples = {
  'faults list': ['sluice faults list', 'sluice faults list --json'],
  'faults show': ['sluice faults show rough', 'sluice faults show flaky-streams'],
  'faults start': [
    'sluice faults start --key my-editor --profile flaky-streams --for 30m',
    'sluice faults start --group default --fault "rate-limit;retry-after=2;every=3"',
  ],
  'faults stop': ['sluice faults stop', 'sluice faults stop --key my-editor'],
  'faults run': [
    'sluice faults run --profile rough -- npm test',
    'sluice faults run --fault "cut;after=5;nth=2" --seed 7 -- python agent.py',
    'sluice faults run --profile rough --cassette cassettes -- npm test',
  ],
  ...judgeExamples,
};

export function addFaultVerbs(program: Command, terminal: Terminal, { on }: Verbs): void {
  const faults = program.command('faults').description('let client programs meet errors, delays and broken streams');
  on(faults.command('list').description('list the faults and the profiles'), async ({ output }) => showAll(output));

  const show = faults.command('show').argument('<profile>').description('show the rules of a profile');
  on(show, async ({ output }, [name = '']) => {
    const { faultProfiles } = await import('../faults/fault-profiles.ts');
    const profile = faultProfileNames.find((each) => each === name);
    if (!profile) {
      const nearest = didYouMean(name, faultProfileNames) || ` There are: ${faultProfileNames.join(', ')}.`;
      throw new CliError(`There is no profile "${name}".${nearest}`, exitCodes.usage);
    }
    output.show(faultProfiles[profile], faultProfiles[profile].rules.join('\n'));
  });

  const start = withChoice(withScope(faults.command('start').description('switch faults on for a limited time')))
    .option('--for <minutes>', 'how long: 10m (default), up to 24h', parseMinutes, 10)
    .addHelpText('after', notes(ruleHelp));
  on<Scope & Choice & { for: number }>(start, async ({ control, output }, _, options) => {
    const { key, group, for: minutes } = options;
    if (control.origin === null) throw new CliError('Sluice is not running, so no request can meet a fault.');
    if ((key === undefined) === (group === undefined)) {
      throw new CliError('Name a --key or a --group.', exitCodes.usage);
    }
    const scope = { ...(key !== undefined && { key }), ...(group !== undefined && { group }) };
    const result = await control.execute({ type: 'faults.start', ...scope, ...chosen(options), minutes });
    output.show(result, result.faults.map(describeFaults).join('\n'));
  });

  const stop = withScope(faults.command('stop').description('switch faults off; without a key or group: all of them'));
  on<Scope>(stop, async ({ control, output }, _, { key, group }) => {
    const scope = { ...(key !== undefined && { key }), ...(group !== undefined && { group }) };
    const result = await control.execute({ type: 'faults.stop', ...scope });
    output.show(result, result.faults.length === 0 ? 'Faults are off.' : result.faults.map(describeFaults).join('\n'));
  });
  addFaultsRun(faults, terminal);
  addJudge(faults, terminal, parseSeconds);
}

function addFaultsRun(faults: Command, terminal: Terminal): void {
  const run = withChoice(
    faults
      .command('run')
      .argument('<command...>', 'the program and its arguments, best after "--"')
      .description('start a program like "sluice run", with faults in its requests'),
  )
    .option('--key <id>', 'use this key, whose secret must be kept, instead of a new one')
    .option('--group <id>', 'the group of the new key (default: default)')
    .option('--model <name>', 'the model, for programs that take it from their environment')
    .option('--data-dir <folder>', 'the data folder')
    .addOption(
      new Option(
        '--cassette <folder>',
        'answer from this cassette alone, as "sluice replay" does, instead of asking providers',
      ).conflicts(['key', 'group', 'dataDir']),
    )
    .addHelpText('after', notes(ruleHelp))
    .passThroughOptions();
  run.action(async () => {
    const { cassette, ...options } = run.opts<RunOptions & Choice & { cassette?: string }>();
    const around = aroundRun(chosen(options), terminal);
    process.exitCode =
      cassette === undefined
        ? await runHere(run.args, options, terminal, around)
        : await replayHere(run.args, { cassette, model: options.model }, terminal, around);
  });
}

async function replayHere(
  line: readonly string[],
  { cassette: folder, model }: { cassette: string; model: string | undefined },
  terminal: Terminal,
  around: AroundRun,
): Promise<number> {
  const { runWithCassette } = await import('./run-with-cassette.ts');
  const source = { mode: 'replay' as const, folder, pace: 0, configFile: undefined, dataDir: undefined };
  return runWithCassette(line, model === undefined ? {} : { model }, { ...source, terminal, around });
}

const longestMinutes = 24 * 60;

function aroundRun(choice: ReturnType<typeof chosen>, terminal: Terminal): AroundRun {
  return async (control, key) => {
    const { faults } = await control.execute({ type: 'faults.start', key, ...choice, minutes: longestMinutes });
    const seed = faults.find(({ id }) => id === key)?.seed;
    createOutput(terminal, false).note(
      `Requests meet faults on purpose. "--seed ${seed}" makes the same choices again.`,
    );
    return async () => {
      await control.execute({ type: 'faults.stop', key });
    };
  };
}

async function showAll(output: Output): Promise<void> {
  const [{ faultTexts }, { faultProfiles }] = await Promise.all([
    import('../faults/fault-kinds.ts'),
    import('../faults/fault-profiles.ts'),
  ]);
  const profiles = Object.entries(faultProfiles).map(([name, { does }]) => [name, does]);
  const shown = [
    table(['fault', 'what the client meets'], Object.entries(faultTexts), ''),
    '',
    table(['profile', 'what its requests meet'], profiles, ''),
  ];
  output.show({ faults: faultTexts, profiles: faultProfiles }, shown);
}

function withScope(command: Command): Command {
  return command.option('--key <id>', 'requests of this key').option('--group <id>', 'requests of this group');
}

function withChoice(command: Command): Command {
  return command
    .addOption(new Option('--profile <name>', 'a built-in list of rules').choices(faultProfileNames))
    .option('--fault <rule>', 'a rule such as "stall;after=40;share=0.1"; may be given several times', collectRule)
    .option('--seed <number>', 'repeat the random choices of this seed', parseSeed);
}

/** Throws CliError unless exactly one of profile and rules is given. */
function chosen({ profile, fault, seed }: Choice) {
  if ((profile === undefined) === (fault === undefined)) {
    throw new CliError('Give either a --profile or one or more --fault: see "sluice faults list".', exitCodes.usage);
  }
  return { ...(profile && { profile }), ...(fault && { rules: fault }), ...(seed !== undefined && { seed }) };
}

function collectRule(text: string, before: readonly string[] = []): string[] {
  try {
    parseRule(text);
  } catch (error) {
    throw error instanceof FaultTextError ? new InvalidArgumentError(error.message) : error;
  }
  return [...before, text];
}

const maxSeed = 0x7fff_ffff;

function parseSeed(text: string): number {
  const seed = Number(text);
  if (/^\d+$/.test(text) && seed <= maxSeed) return seed;
  throw new InvalidArgumentError(`Use a whole number from 0 to ${maxSeed}.`);
}

function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (seconds >= 1 && seconds <= 3_600) return seconds;
  throw new InvalidArgumentError('Use a number of seconds from 1 to 3600.');
}

function parseMinutes(text: string): number {
  const [, count, unit] = /^(\d+)(m|h)?$/.exec(text) ?? [];
  const minutes = Number(count) * (unit === 'h' ? 60 : 1);
  if (minutes >= 1 && minutes <= longestMinutes) return minutes;
  throw new InvalidArgumentError('Use a time from 1m to 24h.');
}

/** Example: Faults: profile rough for key "k1" until 13:05 (seed 7). */
export function describeFaults({ kind, id, profile, rules, seed, untilMs }: TimedFaultsView): string {
  const description = profile === null ? rules.join(', ') : `profile ${profile}`;
  return `Faults:     ${description} for ${kind} "${id}" until ${localTime(untilMs).slice(11, 16)} (seed ${seed})`;
}
