/**
 * Every word that the help of an option documents as a value does what it says, from the command line to the stored
 * configuration. `--cache off` once ended with "expected object, received string".
 */
import { PassThrough, Readable } from 'node:stream';
import { type Command, InvalidArgumentError, type Option } from 'commander';
import { expect, test } from 'vitest';
import { createProgram } from '../../../server/cli/program.ts';
import { optionalParts } from '../../../server/optional-parts.ts';
import { runVerb, temporaryFolder } from './run-cli.ts';

const quietTerminal = {
  ...{ argv: [], env: {}, stdin: Readable.from([]) },
  ...{ stdout: new PassThrough(), stderr: new PassThrough() },
  ...{ windowFolders: [], teamPresets: { policy: '/nowhere' } },
};

/** Words with a meaning of their own: quoted, or an item of a list. */
const words = /"([a-z]+)"|\b(on|off|none|never|usual|instant|recorded|system|direct|discover)(?=,| \(default\)|$)/g;

/** Quoted, but no values that are stored: another command, a setting, a column, whose keys are listed. */
const notValues = new Set(['serve --public-url people', 'audit --before next', 'key list --owner me']);

interface Documented {
  /** `group put --cache`, `key limit <limits>` */
  place: string;
  word: string;
}

function commandsBelow(command: Command, path: string[] = []): { path: string; command: Command }[] {
  const deeper = command.commands.flatMap((each) => commandsBelow(each, [...path, each.name()]));
  return [{ path: path.join(' '), command }, ...deeper];
}

const team = await optionalParts.team?.();
const takesValue = (option: Option) => !option.isBoolean() && !option.negate;

function optionsOf(): { place: string; option: Option }[] {
  return commandsBelow(createProgram(quietTerminal, team)).flatMap(({ path, command }) =>
    command.options.filter(takesValue).map((option) => ({ place: `${path} ${option.long}`, option })),
  );
}

function documented(): Documented[] {
  const found = commandsBelow(createProgram(quietTerminal, team)).flatMap(({ path, command }) => [
    ...command.options
      .filter(takesValue)
      .flatMap((option) => named(`${path} ${option.long}`, option.description, option.argChoices)),
    ...command.registeredArguments.flatMap((each) =>
      named(`${path} <${each.name()}>`, each.description, each.argChoices),
    ),
  ]);
  return found.filter(({ place, word }) => !notValues.has(`${place} ${word}`));
}

function named(place: string, description: string, choices: readonly string[] = []): Documented[] {
  const quoted = [...description.matchAll(words)].map(([, inQuotes, bare]) => inQuotes ?? bare ?? '');
  return [...new Set([...choices, ...quoted])].map((word) => ({ place, word }));
}

/**
 * What each documented word stores in the configuration, by the command that is run (`WORD` is replaced). First another
 * value is stored, so that each is a change.
 */
interface Case {
  /** Stores another value first. */
  before: string;
  line: string;
  /** The part of the configuration that the words change. */
  at(config: Stored): unknown;
  stores: Record<string, unknown>;
}

interface Stored {
  groups: ({ id: string } & Record<string, unknown>)[];
  keys: ({ id: string } & Record<string, unknown>)[];
  providers: ({ id: string } & Record<string, unknown>)[];
}

const group = (field: string) => (config: Stored) => config.groups.find(({ id }) => id === 'team')?.[field];
const key = (field: string) => (config: Stored) => config.keys.find(({ id }) => id === 'dev')?.[field];
const provider = (field: string) => (config: Stored) => config.providers.find(({ id }) => id === 'main')?.[field];
const onFields = (fields: Record<string, unknown>) => expect.objectContaining(fields);
const modes = (stores: Record<string, unknown>) => ({
  record: onFields({ mode: 'record' }),
  replay: onFields({ mode: 'replay' }),
  'replay-or-record': onFields({ mode: 'replay-or-record' }),
  ...stores,
});

const dialects = ['openai', 'azure', 'anthropic', 'gemini', 'bedrock', 'vertex'];

const cases: Record<string, Case> = {
  'group put --cache': {
    before: 'group put team --cache ttl=1h,size=64',
    line: 'group put team --cache WORD',
    at: group('cache'),
    stores: { on: expect.objectContaining({ ttlSeconds: expect.any(Number) }), off: null },
  },
  'group put --limit': {
    before: 'group put team --limit usd=5/day',
    line: 'group put team --limit WORD',
    at: group('limits'),
    stores: { none: undefined },
  },
  'group put --unpriced': {
    before: 'group put team --name team',
    line: 'group put team --unpriced WORD',
    at: group('unpriced'),
    stores: { refuse: 'refuse', allow: 'allow' },
  },
  'group put --delete-unknown': {
    before: 'group put team --name team',
    line: 'group put team --delete-unknown WORD',
    at: group('deleteUnknown'),
    stores: { alone: 'alone', allow: 'allow', refuse: 'refuse' },
  },
  'group put --passthrough': {
    before: 'group put team --passthrough main',
    line: 'group put team --passthrough WORD',
    at: group('passthrough'),
    stores: { none: null, usual: undefined },
  },
  'group put --cassette-mode': {
    before: 'group put team --cassette FOLDER',
    line: 'group put team --cassette-mode WORD',
    at: group('cassette'),
    stores: modes({ off: null }),
  },
  'key put --cassette-mode': {
    before: 'key put dev --cassette FOLDER',
    line: 'key put dev --cassette-mode WORD',
    at: key('cassette'),
    stores: modes({ off: 'off', group: undefined }),
  },
  'key put --expires': {
    before: 'key put dev --expires 30d',
    line: 'key put dev --expires WORD',
    at: key('expiresAt'),
    stores: { never: undefined },
  },
  'key put --models': {
    before: 'key put dev --models m',
    line: 'key put dev --models WORD',
    at: key('models'),
    stores: { all: undefined },
  },
  'key put --limit': {
    before: 'key put dev --limit usd=5/day',
    line: 'key put dev --limit WORD',
    at: key('limits'),
    stores: { none: undefined },
  },
  'key limit <limits>': {
    before: 'key limit dev usd=5/day',
    line: 'key limit dev WORD',
    at: key('limits'),
    stores: { none: undefined },
  },
  'key create --expires': {
    before: '',
    line: 'key create new --expires WORD',
    at: ({ keys }) => keys.find(({ id }) => id === 'new')?.expiresAt,
    stores: { never: undefined },
  },
  'key create --models': {
    before: '',
    line: 'key create new --models WORD',
    at: ({ keys }) => keys.find(({ id }) => id === 'new')?.models,
    stores: { all: undefined },
  },
  'key create --limit': {
    before: '',
    line: 'key create new --limit WORD',
    at: ({ keys }) => keys.find(({ id }) => id === 'new')?.limits,
    stores: { none: undefined },
  },
  'provider put --models': {
    before: 'provider put main --models a,b',
    line: 'provider put main --models WORD',
    at: provider('models'),
    stores: { discover: 'discover' },
  },
  'provider put --proxy': {
    before: 'provider put main --proxy http://127.0.0.1:9',
    line: 'provider put main --proxy WORD',
    at: provider('proxy'),
    stores: { system: 'system', direct: 'direct' },
  },
  'provider put --dialect': {
    before: 'provider put main --name main',
    line: 'provider put main --dialect WORD',
    at: provider('dialect'),
    stores: Object.fromEntries(dialects.map((dialect) => [dialect, dialect])),
  },
  'provider put --ask-usage': {
    before: 'provider put main --name main',
    line: 'provider put main --ask-usage WORD',
    at: provider('askUsage'),
    stores: { on: true, off: false },
  },
  'provider put --certificate': {
    before: `provider put main --certificate ${Array.from({ length: 32 }, () => 'ab').join(':')}`,
    line: 'provider put main --certificate WORD',
    at: provider('certificate'),
    stores: { usual: undefined },
  },
  'provider add --certificate': {
    before: '',
    line: 'provider add --no-test --no-credential --id new --url https://127.0.0.1:9/v1 --certificate WORD',
    at: ({ providers }) => providers.find(({ id }) => id === 'new')?.certificate,
    stores: { usual: undefined },
  },
  'provider put --timeouts': {
    before: 'provider put main --timeouts connectMs=3000',
    line: 'provider put main --timeouts WORD',
    at: provider('timeouts'),
    stores: { usual: {} },
  },
  'provider add --ask-usage': {
    before: '',
    line: 'provider add --no-test --no-credential --id new --url http://127.0.0.1:9/v1 --ask-usage WORD',
    at: ({ providers }) => providers.find(({ id }) => id === 'new')?.askUsage,
    stores: { on: true, off: false },
  },
  'provider add --timeouts': {
    before: '',
    line: 'provider add --no-test --no-credential --id new --url http://127.0.0.1:9/v1 --timeouts WORD',
    at: ({ providers }) => providers.find(({ id }) => id === 'new')?.timeouts,
    stores: { usual: {} },
  },
  'provider put --free': {
    before: 'provider put main --free on',
    line: 'provider put main --free WORD',
    at: provider('free'),
    stores: { on: true, off: false, auto: undefined },
  },
  'provider add --free': {
    before: '',
    line: 'provider add --no-test --no-credential --id new --url http://127.0.0.1:9/v1 --free WORD',
    at: ({ providers }) => providers.find(({ id }) => id === 'new')?.free,
    stores: { on: true, off: false, auto: undefined },
  },
  'provider add --models': {
    before: '',
    line: 'provider add --no-test --no-credential --id new --url http://127.0.0.1:9/v1 --models WORD',
    at: ({ providers }) => providers.find(({ id }) => id === 'new')?.models,
    stores: { discover: 'discover' },
  },
  'provider add --proxy': {
    before: '',
    line: 'provider add --no-test --no-credential --id new --url http://127.0.0.1:9/v1 --proxy WORD',
    at: ({ providers }) => providers.find(({ id }) => id === 'new')?.proxy,
    stores: { system: 'system', direct: 'direct' },
  },
  'provider add --dialect': {
    before: '',
    line: 'provider add --no-test --no-credential --id new --url http://127.0.0.1:9/v1 --dialect WORD',
    at: ({ providers }) => providers.find(({ id }) => id === 'new')?.dialect,
    stores: Object.fromEntries(dialects.map((dialect) => [dialect, dialect])),
  },
};

/** Options that choose what a command shows or runs, and store nothing: tests of these commands pass them. */
const storeNothing = new Set([
  ...['serve --cassette-mode', 'serve --pace', 'record --pace', 'replay --pace', 'migrate --from', 'env --shell'],
  ...[
    'key create --export',
    'route explain --api',
    'log --export',
    'log --answer',
    'usage --by',
    'token create --scope',
  ],
  ...['faults start --profile', 'faults run --profile', 'migrate --to', 'completion <shell>'],
]);

test.each(Object.entries(cases))('%s takes each word of its help', async (_place, { before, line, at, stores }) => {
  for (const [word, stored] of Object.entries(stores)) {
    const [folder, cassette] = [temporaryFolder(), temporaryFolder()];
    const run = async (command: string) => {
      const parameters = command.replace('WORD', word).replace('FOLDER', cassette).split(' ');
      const { code, stderr } = await runVerb([...parameters, '--data-dir', folder]);
      expect({ command: parameters.join(' '), code, stderr }).toMatchObject({ code: 0 });
    };
    await run('provider add --no-test --no-credential --id main --url http://127.0.0.1:9/v1 --models m');
    await run('group put team --models *');
    await run('key create dev');
    if (before !== '') await run(before);
    await run(line);
    const { stdout } = await runVerb(['export', '--data-dir', folder]);
    expect({ word, stored: at(JSON.parse(stdout)) }).toEqual({ word, stored });
  }
});

test('every word that the help documents as a value has a case here', () => {
  const missing = documented()
    .filter(({ place }) => !storeNothing.has(place) && !place.endsWith(' --color'))
    .filter(({ place, word }) => !Object.hasOwn(cases[place]?.stores ?? {}, word));
  expect(missing).toEqual([]);
});

test('no parser of an option gives nothing, which Commander would replace by an empty text', () => {
  const values = [...new Set([...documented().map(({ word }) => word), ...samples])];
  for (const { place, option } of optionsOf()) {
    for (const value of values) {
      expect.soft(parsed(option, value), `${place} ${value}`).not.toBeNull();
    }
  }
});

const samples = [
  '',
  '0',
  '1',
  '10m',
  '30d',
  '2026-01-01',
  'a=b',
  'openai=0:2',
  'usd=5/day',
  'null',
  '{}',
  'http://a.example',
];

/** `refused` if the parser refuses the value. */
function parsed(option: Option, value: string): unknown {
  try {
    return option.parseArg === undefined ? value : (option.parseArg(value, undefined) ?? null);
  } catch (error) {
    if (error instanceof InvalidArgumentError) return 'refused';
    throw error;
  }
}
