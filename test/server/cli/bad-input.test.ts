/** How each verb rejects unusable input, and that it then changes nothing. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commandsBelow } from '../../../server/cli/help.ts';
import { createProgram } from '../../../server/cli/program.ts';
import { optionalParts } from '../../../server/optional-parts.ts';
import { runVerb } from './run-cli.ts';

interface Refused {
  /** After the verb. */
  line: string;
  says: string;
  code: 1 | 2;
}

const wrong = (line: string, says: string): Refused => ({ line, says, code: 2 });
const failed = (line: string, says: string): Refused => ({ line, says, code: 1 });
const unknownOption = wrong('--nonsense', 'There is no option --nonsense');
const notRunning = failed('', 'Sluice is not running');

/** By verb. Verbs without other input at least reject an unknown option. */
const refusals: Record<string, readonly Refused[]> = {
  serve: [wrong('--port 70000', 'from 0 to 65535'), unknownOption],
  stop: [notRunning, unknownOption],
  run: [wrong('', 'The argument command is missing'), failed('--key nobody -- true', 'There is no key "nobody"')],
  terminal: [failed('--key nobody', 'There is no key "nobody"'), unknownOption],
  record: [wrong('-- true', 'The option --cassette'), wrong('--cassette x', 'The argument command is missing')],
  replay: [failed('--cassette /nowhere/x -- true', 'there is no such folder')],
  'cassette export': [failed('/nowhere x.har', 'there is no such folder')],
  'cassette status': [notRunning],
  'cassette rewind': [notRunning],
  'service install': [wrong('--port x', 'from 0 to 65535')],
  'service uninstall': [unknownOption],
  'service status': [unknownOption],
  status: [unknownOption],
  env: [wrong('--shell tcsh', 'It is one of sh'), failed('--key nobody', 'There is no key "nobody"')],
  'key create': [wrong('--expires soon', 'Use a date'), failed('--group nobody', 'There is no group "nobody"')],
  'key list': [unknownOption],
  'key show': [failed('nobody', 'There is no key "nobody"')],
  'key put': [wrong('k', 'Nothing to change was given'), failed('nobody --expires never', 'There is no key "nobody"')],
  'key move': [failed('k nowhere', 'There is no group "nowhere"'), wrong('k', 'The argument group is missing')],
  'key enable': [failed('nobody', 'There is no key "nobody"')],
  'key disable': [failed('nobody', 'There is no key "nobody"')],
  'key limit': [wrong('k speed=1', 'Use limits such as'), failed('nobody usd=1/day', 'There is no key "nobody"')],
  'key revoke': [wrong('k', 'use --yes'), failed('nobody --yes', 'There is no key "nobody"')],
  'key rotate': [wrong('k', 'use --yes'), failed('nobody --yes', 'There is no key "nobody"')],
  'key reveal': [failed('nobody', 'There is no key "nobody"')],
  'provider add': [
    wrong('nosuch', 'There is no preset "nosuch"'),
    wrong('openai', 'OpenAI needs a credential'),
    wrong('--url ftp://llm.example', 'begins with http:// or https://'),
  ],
  'provider put': [wrong('main', 'Nothing to change'), failed('nobody --name x', 'There is no provider "nobody"')],
  'provider credential': [wrong('main', 'No credential was given')],
  'provider list': [unknownOption],
  'provider presets': [unknownOption],
  'provider models': [failed('nobody', 'There is no provider "nobody"')],
  'provider test': [failed('nobody', 'There is no provider "nobody"')],
  'provider enable': [failed('nobody', 'There is no provider "nobody"')],
  'provider disable': [failed('nobody', 'There is no provider "nobody"')],
  'provider reset': [failed('nobody', 'There is no provider "nobody"')],
  'provider remove': [wrong('main', 'use --yes'), failed('nobody --yes', 'There is no provider "nobody"')],
  'group list': [unknownOption],
  'group show': [failed('nobody', 'There is no group "nobody"')],
  'group put': [
    wrong('team --policy strategy=best', 'expected one of "priority"'),
    failed('team --passthrough nobody', 'there is no provider "nobody"'),
    failed('no/id', 'use 1 to 64 of a-z'),
  ],
  'group remove': [wrong('team', 'use --yes'), failed('default --yes', 'is used by keys: "k"')],
  'alias list': [unknownOption],
  'alias put': [
    wrong('slow --target main', 'Use provider/model'),
    wrong('slow --target main/a,priority=x', '"priority" must be a whole number'),
    failed('slow --target nobody/a', 'There is no provider "nobody"'),
    failed('slow --key nobody --target main/a', 'There is no key "nobody"'),
  ],
  'alias remove': [wrong('fast', 'use --yes'), failed('nobody --yes', 'There is no alias "nobody"')],
  'model list': [failed('--key nobody', 'There is no key "nobody"')],
  'route explain': [wrong('', 'The option --model'), failed('--key nobody --model a', 'There is no key "nobody"')],
  log: [
    wrong('--since soon', 'Use a date'),
    wrong('--status abc', 'Use a status such as 429'),
    wrong('--since 1h --until 2h', '--until is not the later one'),
    wrong('--follow --export csv', 'cannot be used with'),
    failed('req_0', 'There is no request "req_0"'),
  ],
  'log show': [failed('req_0', 'There is no request "req_0"')],
  'log pin': [failed('req_0', 'There is no request "req_0"')],
  'log note': [failed('req_0 text', 'There is no request "req_0"')],
  'log unpin': [failed('req_0', 'There is no request "req_0"')],
  'session list': [wrong('--since soon', 'Use a date')],
  'session show': [failed('ses_0', 'use the id of a session')],
  'session export': [failed('ses_0', 'use the id of a session')],
  'session stop': [failed('ses_0', 'Sluice is not running')],
  'session resume': [failed('ses_0', 'Sluice is not running')],
  'capture on': [
    wrong('', 'Name a --group or a --key'),
    wrong('--requests many', 'from 1 to 1000'),
    failed('--key nobody', 'There is no key "nobody"'),
    failed('--for 10m', 'Sluice is not running'),
  ],
  'capture off': [failed('--key nobody', 'There is no key "nobody"')],
  'prices list': [unknownOption],
  'prices check': [failed('', 'Public prices are not read')],
  'prices apply': [failed('', 'Public prices are not read')],
  'cache stats': [notRunning],
  'cache clear': [notRunning],
  'faults list': [unknownOption],
  'faults show': [wrong('nobody', 'There is no profile "nobody"')],
  'faults start': [notRunning],
  'faults stop': [unknownOption],
  'faults run': [wrong('-- true', 'Give either a --profile or one or more --fault')],
  'faults judge': [wrong('', 'The argument command is missing')],
  compare: [failed('req_0 --at main/a', 'Sluice is not running'), wrong('req_0', 'The option --at')],
  usage: [wrong('--by mood', 'It is one of day')],
  'settings get': [wrong('nonsense', 'There is no setting "nonsense"')],
  'settings set': [
    wrong('port abc', 'port: it takes a number, not "abc"'),
    wrong('ledger.retentionDays 0', 'ledger.retentionDays: it takes more than 0'),
    wrong('prices {', 'prices: the value is not valid JSON'),
  ],
  'demo on': [unknownOption],
  'demo off': [unknownOption],
  'demo auto': [unknownOption],
  export: [
    failed('/nowhere/x.json', 'there is no folder /nowhere'),
    wrong('--preset', 'needs --name and --organisation'),
  ],
  import: [failed('/nowhere/x.json', 'there is no such file')],
  'preset show': [failed('/nowhere/x.json', 'there is no such file')],
  'preset apply': [failed('/nowhere/x.json --yes', 'there is no such file')],
  'preset link': [failed('/nowhere/x.json', 'there is no such file')],
  'preset leave': [unknownOption],
  migrate: [
    wrong('--from mysql --to postgres://db.example/x', 'It is one of sqlite'),
    failed('--from sqlite --to db.example', 'The address of the database cannot be used'),
  ],
  'passphrase change': [wrong('', 'Set SLUICE_NEW_PASSPHRASE or SLUICE_NEW_KEY_FILE')],
  'passphrase finish': [wrong('', 'set SLUICE_STORE')],
  apply: [wrong('', 'The option --file'), failed('-f /nowhere/x.json', 'there is no such file')],
  login: [failed('gateway', '"gateway" is no address of a gateway')],
  logout: [failed('https://gateway.example', 'You are not signed in to https://gateway.example')],
  join: [failed('gateway', '"gateway" is no address of a gateway')],
  leave: [failed('https://gateway.example', 'This Sluice has not joined https://gateway.example')],
  'token create': [
    wrong('pipeline', 'The option --scope'),
    wrong('pipeline --scope all', 'It is one of read, keys, write'),
    wrong('pipeline --scope read --days 400', 'from 1 to 366'),
    failed('pipeline --scope read', 'Nobody signs in to this Sluice'),
  ],
  'token list': [failed('', 'Nobody signs in to this Sluice')],
  'token revoke': [wrong('tok_0123456789abcdef', 'use --yes'), failed('tok_0 --yes', 'use the id of an API token')],
  'people list': [failed('', 'Nobody signs in to this Sluice')],
  'people sign-out': [failed('mia --yes', 'Nobody signs in to this Sluice')],
  'people limit': [
    wrong('mia', 'The argument limits is missing'),
    wrong('mia usd=x', 'Use limits such as'),
    failed('mia none', 'Nobody signs in to this Sluice'),
  ],
  'people revoke': [failed('mia --yes', 'Nobody signs in to this Sluice')],
  'scim status': [failed('', 'Nobody signs in to this Sluice')],
  'scim token': [failed('', 'Nobody signs in to this Sluice')],
  'scim off': [wrong('', 'use --yes'), failed('--yes', 'Nobody signs in to this Sluice')],
  audit: [
    wrong('--limit 0', 'from 1 to 1000'),
    wrong('--before x', 'the number of an entry'),
    wrong('--local --person mia', 'cannot be used with'),
    wrong('--export x --limit 5', 'cannot be used with'),
    wrong('--follow --before 5', 'cannot be used with'),
    failed('', 'Nobody signs in to this Sluice'),
  ],
  connect: [wrong('notepad', 'There is no client "notepad"'), wrong('codex --write --print', 'cannot be used with')],
  window: [notRunning],
  doctor: [unknownOption],
  completion: [wrong('tcsh', 'It is one of bash')],
};

const team = await optionalParts.team?.();
const terminal = { argv: [], env: {}, stdin: Readable.from([]), stdout: new PassThrough(), stderr: new PassThrough() };

test('every verb of the help is tried with something that it cannot use', () => {
  const program = createProgram({ ...terminal, windowFolders: [], teamPresets: { policy: '/nowhere' } }, team);
  const verbs = commandsBelow(program).filter(({ path, command }) => {
    return (command.commands.length === 0 || path === 'log') && path !== 'complete';
  });
  expect(Object.keys(refusals).toSorted()).toEqual(verbs.map(({ path }) => path).toSorted());
});

describe('a verb', () => {
  let folder: string;
  const run = (line: string) =>
    runVerb(line.split(' ').filter(Boolean), { env: { SLUICE_DATA_DIR: folder, HOME: folder } });
  const stored = () => readFileSync(join(folder, 'config.json'), 'utf8');
  // Runs once, because nothing below changes the result.
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-bad-input-'));
    await run('key create k');
    await run('group put team');
    await run('provider add --id main --url https://llm.example/v1 --models a,b --no-credential --no-test');
    await run('alias put fast --target main/a');
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test.each(Object.entries(refusals))('%s says what is wrong and changes nothing', async (verb, lines) => {
    const before = stored();
    for (const { line, says, code } of lines) {
      const outcome = await run(`${verb} ${line}`);
      const expected = { line, code, stdout: '', stderr: expect.stringContaining(says) };
      expect.soft({ line, ...outcome }).toMatchObject(expected);
    }
    expect(stored()).toBe(before);
  });
});
