/** What people type who know other programs, or mistype: each is understood, or answered with the way on. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runVerb } from './run-cli.ts';

let folder: string;
const run = (line: string) =>
  runVerb(line.match(/"[^"]*"|\S+/g)?.map((word) => word.replaceAll('"', '')) ?? [], {
    env: { SLUICE_DATA_DIR: folder, HOME: folder },
  });

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-mistakes-'));
  await run('key create ci');
  await run('group put team --models *');
  await run('provider add --id openrouter --url https://llm.example/v1 --models a,b --no-credential --no-test');
  await run('alias put fast --target openrouter/a');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const seeHelp = (command: string) => `See "sluice${command && ` ${command}`} --help".`;

test.each([
  // Commands.
  ['version', 2, 'There is no command "version". "sluice --version" prints it.'],
  ['update', 2, 'There is no command "update". Update it the way it was installed'],
  ['upgrade', 2, 'Update it the way it was installed'],
  ['restart', 2, 'Use "sluice stop", then "sluice serve".'],
  ['init', 2, 'Begin with "sluice provider add".'],
  ['ui', 2, '"sluice window --open" opens the window.'],
  ['ps', 2, '"sluice status" shows what is running.'],
  ['list', 2, 'Say of what: "sluice provider list"'],
  ['ls', 2, 'Say of what: "sluice provider list"'],
  ['rm', 2, 'Say what: "sluice provider remove"'],
  ['add', 2, 'Say what: "sluice provider add"'],
  ['costs', 2, '"sluice usage" shows usage and cost.'],
  ['test', 2, '"sluice provider test" calls a provider.'],
  ['stauts', 2, 'Did you mean "status"?'],
  ['provdier list', 2, 'There is no command "provdier". Did you mean "provider"?'],
  ['key creat', 2, `There is no command "key creat". Did you mean "key create"? ${seeHelp('key')}`],
  ['session shwo x', 2, 'Did you mean "session show"?'],
  ['help nonsense-of-nobody', 2, `There is no command "nonsense-of-nobody". ${seeHelp('')}`],
  ['help key creat', 2, 'Did you mean "key create"?'],
  // Options and arguments.
  ['key create --expirs 30d', 2, 'There is no option --expirs of "sluice key create". Did you mean "--expires"?'],
  ['log --nonsense-of-nobody', 2, `There is no option --nonsense-of-nobody of "sluice log". ${seeHelp('log')}`],
  ['import --dry -n', 2, 'There is no option --dry'],
  ['import x.json -n', 2, 'There is no option -n of "sluice import".'],
  ['export -f x.json', 2, 'There is no option -f of "sluice export".'],
  ['key show', 2, `The argument id is missing. ${seeHelp('key show')}`],
  [
    'key show ci team',
    2,
    '"sluice key show" takes one argument; "team" is too much. Put what contains spaces in quotes.',
  ],
  ['alias put x', 2, 'The option --target'],
  ['key create --name', 2, 'A value is missing: --name <text>.'],
  ['connect codex --write --print', 2, '--write cannot be used with --print.'],
  // Values.
  [
    'key limit ci usd=5',
    2,
    `"usd=5" is no value of limits. Use usd=5/day, /week, /month or /total. ${seeHelp('key limit')}`,
  ],
  ['key limit ci tokens=5/fortnight', 2, 'Use tokens=5/minute, /day, /week, /month or /total.'],
  ['key limit ci requests=5/day', 2, 'Use requests=5/minute.'],
  ['key limit ci concurrent=2/day', 2, 'Use concurrent=2.'],
  ['key create --limit speed=1', 2, 'Use limits such as'],
  ['usage --by modle', 2, 'It is one of day, key, group, model, provider. Did you mean "model"?'],
  ['completion bahs', 2, 'Did you mean "bash"?'],
  ['settings set port abc', 2, `port: it takes a number, not "abc". ${seeHelp('settings set')}`],
  ['settings set port 99999', 2, 'port: it takes 65535 at most, not "99999".'],
  ['settings set demo maybe', 2, 'demo: it takes one of "auto"|"on"|"off", not "maybe".'],
  ['settings set ledger.retentionDays 0', 2, 'it takes more than 0'],
  ['log --limit 0', 2, 'Give a number from 1 to 1000.'],
  ['log --color sometimes', 2, 'It is one of auto, always, never.'],
  // Names.
  ['settings get prot', 2, 'There is no setting "prot". Did you mean "port"?'],
  ['settings get retentiondays', 2, 'Did you mean "ledger.retentionDays"?'],
  ['settings set admision.running 5', 2, 'Did you mean "admission.running"?'],
  ['provider add opnai', 2, 'There is no preset "opnai". Did you mean "openai"?'],
  ['connect clade', 2, 'There is no client "clade". Did you mean "claude-code"?'],
  ['connect notepad-of-nobody', 2, '"sluice connect" lists them.'],
  ['faults show flaky-stream', 2, 'There is no profile "flaky-stream". Did you mean "flaky-streams"?'],
  ['provider test openruter', 1, 'There is no provider "openruter". Did you mean "openrouter"?'],
  ['provider models openruter', 1, 'Did you mean "openrouter"?'],
  ['provider enable openruter', 1, 'Did you mean "openrouter"?'],
  ['provider put openruter --name x', 1, 'Did you mean "openrouter"?'],
  ['provider reset openruter', 1, 'Did you mean "openrouter"?'],
  ['provider remove openruter', 1, 'Did you mean "openrouter"?'],
  [
    'provider rm quite-another-name',
    1,
    'There is no provider "quite-another-name". "sluice provider list" lists what there is.',
  ],
  ['key show cci', 1, 'There is no key "cci". Did you mean "ci"?'],
  ['key revoke cci', 1, 'There is no key "cci". Did you mean "ci"?'],
  ['key rotate cci', 1, 'Did you mean "ci"?'],
  ['key limit cci usd=5/day', 1, 'Did you mean "ci"?'],
  ['key move ci taem', 1, 'There is no group "taem". Did you mean "team"?'],
  ['key create --group taem', 1, 'Did you mean "team"?'],
  ['env --key cci', 1, 'There is no key "cci". Did you mean "ci"?'],
  ['run --key cci -- true', 1, 'There is no key "cci"'],
  ['connect codex --write --key cci --yes', 1, 'There is no key "cci". Did you mean "ci"?'],
  ['group show taem', 1, 'Did you mean "team"?'],
  ['group rm taem', 1, 'Did you mean "team"?'],
  ['alias rm fats', 1, 'There is no alias "fats". Did you mean "fast"?'],
  ['alias put slow --target openruter/a', 1, 'There is no provider "openruter". Did you mean "openrouter"?'],
  ['model list --key cci', 1, 'Did you mean "ci"?'],
  ['capture off --key cci', 1, 'Did you mean "ci"?'],
  ['log show req_0', 1, 'There is no request "req_0" in the request log. "sluice log --json" lists what there is.'],
  ['export /no/such/dir/x', 1, '/no/such/dir/x cannot be written: there is no folder /no/such/dir; make it first.'],
])('%s ends with %i and says: %s', async (line, code, says) => {
  const outcome = await run(line);
  expect(outcome).toMatchObject({ code, stdout: '' });
  expect(outcome.stderr).toMatch(/^sluice: /);
  expect(outcome.stderr).toContain(says);
});

test.each([
  ['help', 'Run the gateway:'],
  ['help key create', 'Usage: sluice key create [options] [id]'],
  ['key help create', 'Usage: sluice key create [options] [id]'],
  ['help session', 'Usage: sluice session [options] [command]'],
  ['keys ls', 'ci'],
  ['providers ls', 'openrouter'],
  ['aliases ls', 'fast'],
  ['models ls', 'fast'],
  ['groups list', 'team'],
  ['sessions', 'There are no such sessions.'],
  ['sessions -n 5 --since 2h', 'There are no such sessions.'],
  ['session', 'There are no such sessions.'],
  ['logs -n 5', 'There were no requests yet.'],
  ['config ls', 'admission.running'],
  ['key new other', 'sk-sluice-'],
  ['key rm other -y', 'Key "other" is revoked.'],
  ['group new extra', 'Group "extra" is stored.'],
  ['group rm extra -y', 'Group "extra" is removed.'],
  ['alias add other --target openrouter/b', 'Alias "other" is stored.'],
  ['alias delete other -y', 'Alias "other" is removed.'],
])('%s does what is meant', async (line, shows) => {
  const { code, stdout, stderr } = await run(line);
  expect({ line, code, stderr: code === 0 ? '' : stderr }).toEqual({ line, code: 0, stderr: '' });
  expect(stdout).toContain(shows);
});

test('a refused model ends "route explain" with 1, with the reason on stdout', async () => {
  expect(await run('route explain --model fsat')).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('Did you mean "fast"?'),
  });
});

test('with --json, wrong arguments are told as JSON too', async () => {
  const { code, stderr } = await run('key creat --json');
  expect(code).toBe(2);
  expect(JSON.parse(stderr)).toMatchObject({ error: { message: expect.stringContaining('"key create"'), code: null } });
});
