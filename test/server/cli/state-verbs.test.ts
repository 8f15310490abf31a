/** The verbs that show and change the state of Sluice: status, stop, settings, demo, capture, import, export. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { closedPort } from '../../support/ports.ts';
import { completion } from '../../support/strict-chat.ts';
import { json, startUpstream } from '../../support/upstream.ts';
import { endProgramsAfterEach, runJson, runVerb, serve, temporaryFolder } from './run-cli.ts';

endProgramsAfterEach();

async function configOf(folder: string) {
  const { stdout } = await runVerb(['export', '--data-dir', folder]);
  return { config: JSON.parse(stdout) as { keys: object[] } };
}

test('status tells a running Sluice from one that is not, and stop ends it in order', async () => {
  const folder = temporaryFolder();
  const serving = await serve(folder);
  const running = await runVerb(['status', '--data-dir', folder]);
  expect(running).toMatchObject({ code: 0, stdout: expect.stringContaining(`is running at ${serving.ready.baseUrl}`) });
  expect(await runVerb(['stop', '--data-dir', folder])).toMatchObject({
    code: 0,
    stdout: `Sluice (process ${serving.ready.pid}) has ended.\n`,
  });
  expect(serving.child.exitCode).toBe(0);
  const ended = await runVerb(['status', '--data-dir', folder]);
  expect(ended).toMatchObject({ code: 1, stdout: expect.stringContaining(`Sluice is not running on ${folder}.`) });
  expect(await runVerb(['stop', '--data-dir', folder])).toMatchObject({
    code: 1,
    stderr: `sluice: Sluice is not running on ${folder}.\n`,
  });
});

test('of a setting with several members one can be set', async () => {
  const folder = temporaryFolder();
  const settings = (line: string[]) => runVerb(['settings', ...line, '--data-dir', folder]);
  const people = { issuer: 'https://login.example', clientId: 'sluice', roles: [{ claim: 'ops', role: 'admin' }] };
  await settings(['set', 'people', JSON.stringify(people)]);
  expect(await settings(['set', 'people.sessionHours', '8'])).toMatchObject({ stdout: 'people.sessionHours is 8.\n' });
  expect(await settings(['get', 'people.clientId'])).toMatchObject({ stdout: 'sluice\n' });
});

test('settings are shown, set by name, validated, and otherwise stay as they are', async () => {
  const folder = temporaryFolder();
  const settings = (line: string[]) => runVerb(['settings', ...line, '--data-dir', folder]);
  expect((await settings(['get'])).stdout).toMatch(/^SETTING +VALUE\nport +4810\n/);
  expect(await settings(['set', 'admission.running', '7'])).toMatchObject({ stdout: 'admission.running is 7.\n' });
  expect(await settings(['get', 'admission.running'])).toMatchObject({ stdout: '7\n' });
  expect(await settings(['get', 'admission.waiting'])).toMatchObject({ stdout: '500\n' });
  expect(await settings(['set', 'port', '4911'])).toMatchObject({
    stdout: 'port is 4911. It takes effect at the next start.\n',
  });
  expect(await settings(['set', 'admission.running', 'many'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('admission.running'),
  });
  expect(await settings(['get', 'admission.speed'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('There is no setting "admission.speed"'),
  });
});

test('the demo is switched', async () => {
  const folder = temporaryFolder();
  await runVerb(['demo', 'off', '--data-dir', folder]);
  expect(await runVerb(['settings', 'get', 'demo', '--data-dir', folder])).toMatchObject({ stdout: 'off\n' });
  expect((await runVerb(['demo', 'auto', '--data-dir', folder])).stdout).toBe(
    'The demo is on until there is a provider.\n',
  );
  expect((await runVerb(['demo', 'on', '--data-dir', folder])).stdout).toBe('The demo is on.\n');
  expect(await runVerb(['settings', 'get', 'demo', '--data-dir', folder])).toMatchObject({ stdout: 'on\n' });
});

test('capture is switched for a group, whose other settings stay, for a key, and for some minutes', async () => {
  const folder = temporaryFolder();
  await serve(folder);
  const run = (line: string) => runVerb([...line.split(' '), '--data-dir', folder]);
  const shown = (line: string) => runJson([...line.split(' '), '--data-dir', folder]);
  await run('group put team --models gpt-*');
  expect(await run('capture on --group team')).toMatchObject({ stdout: 'Capture is on for group "team".\n' });
  expect(await shown('group show team')).toMatchObject({ capture: true, models: ['gpt-*'] });
  await run('capture off --group team');
  expect(await shown('group show team')).toMatchObject({ capture: false });
  await run('key create k');
  await run('capture on --key k');
  const { config } = await configOf(folder);
  expect(config.keys).toContainEqual(expect.objectContaining({ id: 'k', capture: true }));
  expect((await run('capture on --for 10m')).stdout).toMatch(/^Capture is on for all requests until \d\d:\d\d\.\n$/);
  expect((await run('capture on --key k --requests 1')).stdout).toMatch(
    /^Capture is on for the next 1 of key "k" until \d\d:\d\d\.\n$/,
  );
  expect((await run('capture off')).stdout).toBe('Capture of all requests is off. It stays on for key "k".\n');
  await run('capture off --key k');
  expect((await run('capture off')).stdout).toBe('Capture of all requests is off.\n');
  expect(await run('capture on')).toMatchObject({ code: 2, stderr: expect.stringContaining('--for') });
  expect(await run('capture on --for 2d')).toMatchObject({ code: 2, stderr: expect.stringContaining('1m to 60m') });
  expect(await run('capture off --group nobody')).toMatchObject({ code: 1, stderr: expect.stringContaining('nobody') });
});

test('group show prints what its keys can use', async () => {
  const { stdout } = await runVerb(['group', 'show', 'default', '--data-dir', temporaryFolder()]);
  expect(stdout).toMatch(/^group: +default\n/);
  expect(stdout).toContain('Available models:\ndemo-chat\n');
});

test('a key is changed, disabled, enabled and moved, and keeps its secret', async () => {
  const folder = temporaryFolder();
  const ask = (...line: string[]) => runJson([...line, '--data-dir', folder]);
  const { secret } = (await ask('key', 'create', 'k')) as { secret: string };
  await ask('group', 'put', 'team');
  await ask('key', 'put', 'k', '--name', 'Laptop', '--models', 'demo-*', '--expires', '30d');
  await ask('key', 'move', 'k', 'team');
  await ask('key', 'disable', 'k');
  expect(await ask('key', 'show', 'k')).toMatchObject({
    name: 'Laptop',
    models: ['demo-*'],
    group: 'team',
    enabled: false,
    expiresAt: expect.any(String),
  });
  await ask('key', 'enable', 'k');
  await ask('key', 'put', 'k', '--models', 'all', '--expires', 'never');
  expect(await ask('key', 'show', 'k')).toMatchObject({ models: null, enabled: true, expiresAt: null });
  expect(await ask('key', 'reveal', 'k')).toEqual({ secret });
  expect(await runVerb(['key', 'put', 'k', '--data-dir', folder])).toMatchObject({ code: 2 });
});

test('what cannot be undone is not done without confirmation', async () => {
  const folder = temporaryFolder();
  await runVerb(['key', 'create', 'k', '--data-dir', folder]);
  expect(await runVerb(['key', 'revoke', 'k', '--data-dir', folder])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('use --yes'),
  });
  expect(await runJson(['key', 'list', '--data-dir', folder])).toHaveLength(1);
});

test('provider add tests the provider, and its exit code tells the result', async () => {
  const upstream = await startUpstream(({ url }, response) =>
    json(
      response,
      url === '/v1/models' ? { object: 'list', data: [{ id: 'gpt-x' }] } : completion({ content: 'Hello.' }),
    ),
  );
  const folder = temporaryFolder();
  const add = (id: string, url: string, ...more: string[]) =>
    runVerb(['provider', 'add', '--id', id, '--url', url, '--no-credential', '--data-dir', folder, ...more]);
  expect(await add('good', upstream.baseUrl)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(
      /^Provider "good" is added\.\nIt speaks OpenAI’s API at http:\S+\.\nProvider "good" answered in \d+ ms with gpt-x:\n/,
    ),
  });
  await upstream.stop();
  const closed = `http://127.0.0.1:${await closedPort()}/v1`;
  expect(await add('bad', closed)).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(
      /^Provider "bad" is added\.\nProvider "bad" does not work:\n[\s\S]*FAILED +connection/,
    ),
  });
  expect(await add('untested', closed, '--no-test')).toMatchObject({
    code: 0,
    stdout: 'Provider "untested" is added.\n',
  });
});

test('provider put changes the given properties and no others', async () => {
  const folder = temporaryFolder();
  const line = 'provider add --id main --url https://llm.example/v1 --models a,b --no-credential --no-test';
  await runVerb([...line.split(' '), '--data-dir', folder]);
  await runVerb(['provider', 'put', 'main', '--name', 'Main', '--models', 'discover', '--data-dir', folder]);
  const [provider] = (await runJson(['provider', 'list', '--data-dir', folder])) as object[];
  expect(provider).toMatchObject({ name: 'Main', models: 'discover', baseUrl: 'https://llm.example/v1' });
});

test('import --dry-run shows the changes and makes none', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'new.json');
  const { stdout } = await runVerb(['export', '--data-dir', folder]);
  const config = JSON.parse(stdout) as { settings: { demo: string } };
  writeFileSync(file, JSON.stringify({ ...config, settings: { ...config.settings, demo: 'off' } }));
  expect(await runVerb(['import', file, '--dry-run', '--data-dir', folder])).toMatchObject({
    code: 0,
    stdout: 'It changes:\n  changed setting demo\n    "auto" -> "off"\n',
  });
  expect(await runVerb(['settings', 'get', 'demo', '--data-dir', folder])).toMatchObject({ stdout: 'auto\n' });
});

test('export --preset writes a team preset without keys and credentials, which can be applied', async () => {
  const [mine, theirs] = [temporaryFolder(), temporaryFolder()];
  const file = join(mine, 'team.json');
  const add = 'provider add --id main --url https://llm.example/v1 --models a --credential-stdin --no-test';
  await runVerb([...add.split(' '), '--data-dir', mine], { input: 'sk-upstream-secret' });
  await runVerb(['key', 'create', 'mine', '--data-dir', mine]);
  await runVerb(['settings', 'set', 'ledger.retentionDays', '30', '--data-dir', mine]);
  const about = ['--name', 'Acme engineering', '--organisation', 'Acme'];
  expect(await runVerb(['export', file, '--preset', ...about, '--data-dir', mine])).toMatchObject({ code: 0 });
  expect(readFileSync(file, 'utf8')).not.toMatch(/sk-|keychain|"keys"/);
  expect(await runVerb(['preset', 'apply', file, '--yes', '--data-dir', theirs])).toMatchObject({ code: 0 });
  expect(await runJson(['provider', 'list', '--data-dir', theirs])).toMatchObject([{ id: 'main', models: ['a'] }]);
  expect(await runVerb(['settings', 'get', 'ledger.retentionDays', '--data-dir', theirs])).toMatchObject({
    stdout: '30\n',
  });
  expect(await runVerb(['export', '--preset', '--data-dir', mine])).toMatchObject({ code: 2 });
});

test('export --preset tells of settings that an import would refuse, and what it writes is shown and applied', async () => {
  const [mine, theirs] = [temporaryFolder(), temporaryFolder()];
  const file = join(mine, 'team.json');
  const [about, here] = [
    ['--name', 'Acme engineering', '--organisation', 'Acme'],
    ['--data-dir', mine],
  ];
  await runVerb(['settings', 'set', 'metrics', 'on', ...here]);
  await runVerb(['settings', 'set', 'port', '4911', ...here]);
  await runVerb(['settings', 'set', 'sessionBudget.stopAtUsd', '20', ...here]);
  const { code, stderr } = await runVerb(['export', file, '--preset', ...about, ...here]);
  expect(code).toBe(0);
  expect(stderr).toBe(
    'Left out: settings.port, which is for this machine only.\n' +
      'Left out: settings.metrics, which can be set only by a policy or an installer (--managed).\n',
  );
  expect(await runVerb(['preset', 'show', file, '--data-dir', theirs])).toMatchObject({ code: 0 });
  expect(await runVerb(['preset', 'apply', file, '--yes', '--data-dir', theirs])).toMatchObject({ code: 0 });
  expect(await runVerb(['settings', 'get', 'sessionBudget.stopAtUsd', '--data-dir', theirs])).toMatchObject({
    stdout: '20\n',
  });
  await runVerb(['export', file, '--preset', '--managed', ...about, ...here]);
  expect(JSON.parse(readFileSync(file, 'utf8')).settings).toEqual({ sessionBudget: { stopAtUsd: 20 }, metrics: 'on' });
});

test('"sluice" alone tells the state of the one that runs, in five lines', async () => {
  const folder = temporaryFolder();
  const { ready } = await serve(folder);
  const run = () => runVerb([], { env: { SLUICE_DATA_DIR: folder } });
  expect(await run()).toEqual({
    code: 0,
    stdout:
      `listening:   ${ready.baseUrl}\nrequests:    none, today\ncost:        $0, today\n` +
      'attention:   there is no provider yet\nnext:        sluice provider add\n',
    stderr: '',
  });
  const line = 'provider add --id main --url https://llm.example/v1 --models a --no-credential --no-test';
  await runVerb([...line.split(' '), '--data-dir', folder]);
  expect((await run()).stdout).toContain('attention:   nothing\nnext:        sluice connect\n');
  expect(await runJson(['status', '--short', '--data-dir', folder])).toMatchObject({
    listening: ready.baseUrl,
    attention: [],
  });
});
