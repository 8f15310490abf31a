/** Names that people try because other programs have them, and what is said of arguments that cannot be used. */
import type { Command, CommanderError } from 'commander';
import { controlError } from '../contract/control-error.ts';
import type { Named } from '../contract/control-problem.ts';
import { GatewayError } from '../contract/errors.ts';
import { nearestName } from '../contract/nearest-name.ts';
import type { Control } from './control.ts';
import { commandsBelow, lineOf, pathOf, subcommandOf } from './help.ts';
import { CliError, exitCodes } from './programs/exit-codes.ts';

/** Other names of commands, by path. They work, but help shows only the one name. */
const aliases: Record<string, readonly string[]> = {
  provider: ['providers'],
  key: ['keys'],
  group: ['groups'],
  alias: ['aliases'],
  model: ['models'],
  route: ['routes'],
  log: ['logs', 'requests'],
  session: ['sessions'],
  settings: ['setting', 'config'],
  cassette: ['cassettes'],
  faults: ['fault'],
  preset: ['presets'],
  token: ['tokens'],
  serve: ['start'],
  'settings get': ['list', 'ls', 'show'],
  'group put': ['create', 'new', 'add', 'set'],
  'alias put': ['create', 'new', 'add', 'set'],
  'key put': ['update', 'edit', 'set'],
  'provider put': ['update', 'edit', 'set'],
};

/** The same, by the last word of the path. */
const aliasesOfVerbs: Record<string, readonly string[]> = {
  list: ['ls'],
  remove: ['rm', 'delete'],
  revoke: ['rm', 'remove', 'delete'],
  create: ['new', 'add'],
  add: ['new', 'create'],
};

/** What other programs call things, and the way to them here. */
const elsewhere: Record<string, string> = {
  version: '"sluice --version" prints it.',
  update: 'Update it the way it was installed: with npm, the system’s packages, or in the desktop application.',
  upgrade: 'Update it the way it was installed: with npm, the system’s packages, or in the desktop application.',
  restart: 'Use "sluice stop", then "sluice serve".',
  init: 'Begin with "sluice provider add".',
  ui: '"sluice window --open" opens the window.',
  open: '"sluice window --open" opens the window.',
  ps: '"sluice status" shows what is running.',
  list: 'Say of what: "sluice provider list", "sluice key list", "sluice model list" or "sluice log".',
  ls: 'Say of what: "sluice provider list", "sluice key list", "sluice model list" or "sluice log".',
  add: 'Say what: "sluice provider add", "sluice key create" or "sluice alias put".',
  new: 'Say what: "sluice provider add", "sluice key create" or "sluice alias put".',
  rm: 'Say what: "sluice provider remove", "sluice key revoke" or "sluice alias remove".',
  cost: '"sluice usage" shows usage and cost.',
  costs: '"sluice usage" shows usage and cost.',
  test: '"sluice provider test" calls a provider.',
  explain: '"sluice route explain --model NAME" tells where a request goes.',
};

/** Once all commands have been added. */
export function completeUsage(program: Command): void {
  for (const { path, command } of [{ path: '', command: program }, ...commandsBelow(program)]) {
    const taken = new Set(command.parent?.commands.map((each) => each.name()));
    const names = aliases[path] ?? aliasesOfVerbs[path.includes(' ') ? command.name() : ''] ?? [];
    command.aliases(names.filter((name) => !taken.has(name)));
    command.exitOverride((error) => {
      throw error.code.startsWith('commander.help') || error.code === 'commander.version'
        ? error
        : refusalOf(error, command);
    });
  }
}

/** `help key create` and `key help create`, as the arguments that show that help. Throws a CliError if there is no such command. */
export function helpAsked(program: Command, argv: readonly string[]): readonly string[] {
  const at = argv.indexOf('help');
  const before = argv.slice(0, Math.max(at, 0)).filter((word) => !word.startsWith('-'));
  const group = before.reduce<Command | undefined>((command, word) => command && subcommandOf(command, word), program);
  if (at < 0 || !group || group.commands.length === 0) return argv;
  const named = argv.slice(at + 1).filter((word) => !word.startsWith('-'));
  let command = group;
  for (const word of named) {
    const next = subcommandOf(command, word);
    if (!next) throw noCommand(command, word);
    command = next;
  }
  return [...argv.filter((word) => word.startsWith('--color')), ...before, ...named, '--help'];
}

/** Ends a sentence about wrong arguments with the way to the right ones. */
export function withHelp(message: string, command: Command): CliError {
  return new CliError(`${message} See "${lineOf(command)} --help".`, exitCodes.usage);
}

export function didYouMean(wanted: string, names: readonly string[]): string {
  // "clade" is nearer to the first word of "claude-code" than to all of it.
  const byHead = new Map(names.map((name) => [name.split('-')[0] ?? name, name]));
  const nearest = nearestName(wanted, [...names, ...byHead.keys()]);
  return nearest === null ? '' : ` Did you mean "${names.includes(nearest) ? nearest : byHead.get(nearest)}"?`;
}

function noCommand(command: Command, word: string): CliError {
  const path = pathOf(command);
  const known = path === '' ? elsewhere[word] : undefined;
  if (known !== undefined) return new CliError(`There is no command "${word}". ${known}`, exitCodes.usage);
  const visible = command.createHelp().visibleCommands(command);
  const names = visible.map((each) => [path, each.name()].filter(Boolean).join(' '));
  const asked = [path, word].filter(Boolean).join(' ');
  return withHelp(`There is no command "${asked}".${didYouMean(asked, names)}`, command);
}

const choicesIn = /Allowed choices are (.+)\.$/;

/** Commander's own messages, as sentences that say what to do. */
function refusalOf({ message }: CommanderError, command: Command): CliError {
  const text = message.replace(/^error: /, '');
  const [, flag = ''] = /^unknown option '([^']*)'/.exec(text) ?? [];
  if (flag) {
    const names = command.options.flatMap(({ long }) => long ?? []);
    return withHelp(`There is no option ${flag} of "${lineOf(command)}".${didYouMean(flag, names)}`, command);
  }
  if (text.startsWith('unknown command')) return noCommand(command, command.args[0] ?? '');
  if (text.startsWith('too many arguments')) return tooMany(command);
  const [, value, place = '', reason = ''] =
    /^(?:option '.*?' argument|command-argument value) '([\s\S]*?)' is invalid(?: for argument '(.*?)')?\. ([\s\S]*)$/.exec(
      text,
    ) ?? [];
  if (value !== undefined) {
    const option = /^option '([^' ]+(?:, [^' ]+)?)/.exec(text)?.[1]?.split(', ').at(-1);
    const choices = choicesIn.exec(reason)?.[1]?.split(', ') ?? [];
    const said = reason.replace(choicesIn, 'It is one of $1.');
    return withHelp(`"${value}" is no value of ${option ?? place}. ${said}${didYouMean(value, choices)}`, command);
  }
  const [, missing] = /^missing required argument '(.*)'/.exec(text) ?? [];
  if (missing !== undefined) return withHelp(`The argument ${missing} is missing.`, command);
  const [, mandatory] = /^required option '(?:-\w, )?(.*)' not specified/.exec(text) ?? [];
  if (mandatory !== undefined) return withHelp(`The option ${mandatory} is missing.`, command);
  const [, valueless] = /^option '(?:-\w, )?(.*)' argument missing/.exec(text) ?? [];
  if (valueless !== undefined) return withHelp(`A value is missing: ${valueless}.`, command);
  const sentence = text.replaceAll(/option '(?:-\w, )?([^' ]+)[^']*'/g, '$1');
  return withHelp(`${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`, command);
}

function tooMany(command: Command): CliError {
  const { parent, args, registeredArguments } = command;
  const [first = ''] = args;
  // What follows a command with a default, such as "session", may be a mistyped command.
  if (
    parent &&
    registeredArguments.length === 0 &&
    parent.commands.length > 1 &&
    command.aliases().includes('ls') &&
    !parent.args.includes(command.name())
  ) {
    return noCommand(parent, first);
  }
  const expected = registeredArguments.length;
  const extra = args.slice(expected).map((each) => `"${each}"`);
  const takes = expected === 0 ? 'no arguments' : expected === 1 ? 'one argument' : `${expected} arguments`;
  return withHelp(
    `"${lineOf(command)}" takes ${takes}; ${extra.join(' ')} is too much. Put what contains spaces in quotes.`,
    command,
  );
}

// What is said of ids that do not exist: the nearest one that does, or the command that lists them.

interface List {
  /** Absent for ids that nobody types by heart. */
  ids?(control: Control): Promise<string[]>;
  command: string;
}

const idsOf = (items: readonly { id: string }[]) => items.map(({ id }) => id);

const lists: Record<Named | 'token' | 'person', List> = {
  provider: {
    ids: async ({ query }) => idsOf(await query({ type: 'providers' })),
    command: 'sluice provider list',
  },
  key: { ids: async ({ query }) => idsOf(await query({ type: 'keys' })), command: 'sluice key list' },
  group: { ids: async ({ query }) => idsOf(await query({ type: 'groups' })), command: 'sluice group list' },
  alias: {
    ids: async ({ query }) => (await query({ type: 'aliases' })).map(({ name }) => name),
    command: 'sluice alias list',
  },
  preset: { ids: async ({ query }) => idsOf(await query({ type: 'presets' })), command: 'sluice provider presets' },
  credential: {
    ids: async ({ query }) =>
      (await query({ type: 'providers' })).flatMap(({ credentials }) => credentials.map(({ id }) => id)),
    command: 'sluice provider list --json',
  },
  request: { command: 'sluice log --json' },
  session: { command: 'sluice session list' },
  token: { ids: async ({ query }) => idsOf(await query({ type: 'tokens' })), command: 'sluice token list' },
  person: { ids: async ({ query }) => idsOf(await query({ type: 'people' })), command: 'sluice people list' },
};

/** The ids of a kind, for completions too. */
export function idsFor(kind: keyof typeof lists, control: Control): Promise<string[]> {
  return lists[kind].ids?.(control) ?? Promise.resolve([]);
}

/** Rejects with `not_found`, so that nobody is asked whether to remove what does not exist. */
export async function mustExist(
  kind: 'provider' | 'key' | 'group' | 'alias',
  id: string,
  control: Control,
): Promise<void> {
  if (!(await idsFor(kind, control)).includes(id)) throw controlError('not_found', { code: `no-${kind}`, id }, 'id');
}

/** The same error; if it is about an id, with the way to the right one. */
export async function withWayOn(error: unknown, control: Control): Promise<unknown> {
  if (!(error instanceof GatewayError && error.problem && 'id' in error.problem)) return error;
  const { code, message, param, problem } = error;
  const kind = /^no-(.+)$/.exec(problem.code)?.[1];
  if (kind === undefined || !(kind in lists)) return error;
  const list = lists[kind as keyof typeof lists];
  const nearest = didYouMean(error.problem.id, await knownIds(list, control));
  return new GatewayError(code, `${message}${nearest || ` "${list.command}" lists what there is.`}`, {
    param,
    problem,
  });
}

/** None if they may not be listed: the first error is the one to tell. */
async function knownIds({ ids }: List, control: Control): Promise<string[]> {
  try {
    return (await ids?.(control)) ?? [];
  } catch {
    return [];
  }
}
