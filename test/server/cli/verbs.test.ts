import { exec } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { closedPort } from '../../support/ports.ts';
import { builtProgram } from '../../support/program.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';
import {
  type CliOptions,
  type Ready,
  runCli,
  runJson,
  runVerb,
  type Serving,
  serve,
  spawnCli,
  temporaryFolder,
} from './run-cli.ts';

// Whole programs are started here, many of them; on a busy machine that takes its time.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 });

let upstream: ScriptedUpstream;
beforeEach(async () => {
  upstream = await startUpstream((_request, response) => json(response, { object: 'list', data: [{ id: 'gpt-x' }] }));
});
afterEach(() => upstream.stop());

describe.each([
  { on: 'a running Sluice', isRunning: true },
  { on: 'the data folder alone', isRunning: false },
])('on $on', ({ isRunning }) => {
  let folder: string;
  let serving: Serving | undefined;
  beforeEach(async () => {
    folder = temporaryFolder();
    serving = isRunning ? await serve(folder) : undefined;
  });
  const run = (line: string, options?: CliOptions) => runVerb([...line.split(' '), '--data-dir', folder], options);
  const runProgram = (line: string, options?: CliOptions) =>
    runCli([...line.split(' '), '--data-dir', folder], options);
  const ask = (line: string, options?: CliOptions) => runJson([...line.split(' '), '--data-dir', folder], options);
  /** The one that is running, else one started now. */
  const running = async () => {
    serving ??= await serve(folder);
    return serving.ready;
  };
  const addProvider = (more = '') =>
    run(`provider add --url ${upstream.baseUrl} --id main --models gpt-x,* --no-credential ${more}`.trim());

  test('a key is made, listed, shown again, changed and ended', async () => {
    const made = await ask('key create laptop --name Laptop --models demo-* --expires 30d');
    expect(made).toMatchObject({
      key: { id: 'laptop', name: 'Laptop', group: 'default', models: ['demo-*'], canReveal: true },
      secret: expect.stringMatching(/^sk-sluice-\w{40,}$/),
    });
    expect(await ask('key list')).toContainEqual(expect.objectContaining({ id: 'laptop', enabled: true }));
    const { secret } = (await ask('key reveal laptop')) as { secret: string };
    expect(made).toMatchObject({ secret });
    const rotated = (await ask('key rotate laptop')) as { secret: string };
    expect(rotated.secret).not.toBe(secret);
    const { baseUrl } = await running();
    const status = async (key: string) =>
      (await fetch(`${baseUrl}/models`, { headers: { authorization: `Bearer ${key}` } })).status;
    expect(await status(rotated.secret)).toBe(200);
    expect(await status(secret)).toBe(401);
    await ask('key revoke laptop');
    expect(await status(rotated.secret)).toBe(401);
  });

  test('a key made for a person is alone on stdout, and is not kept if they wish so', async () => {
    const made = await runProgram('key create once --no-keep');
    expect(made.stdout).toMatch(/^sk-sluice-\w+\n$/);
    expect(made.stderr).toContain('the only time');
    // Where secrets are is said where Sluice starts, and by doctor.
    expect((await run('key create kept')).stderr).not.toContain('encrypted file');
    const again = await run('key reveal once');
    expect(again).toMatchObject({ code: 1, stdout: '' });
  });

  test.each([
    { way: 'the environment', line: '--credential-env UPSTREAM_KEY', options: { env: { UPSTREAM_KEY: 'secret-1' } } },
    { way: 'stdin', line: '--credential-stdin', options: { input: 'secret-1\n' } },
    { way: 'a file', line: '--credential-file FILE', options: {} },
  ])('a credential comes from $way and reaches the provider', async ({ line, options }) => {
    const file = join(folder, 'upstream.key');
    writeFileSync(file, 'secret-1\n', { mode: 0o600 });
    const add = `provider add --url ${upstream.baseUrl} --id main --name Main --models gpt-x ${line.replace('FILE', file)}`;
    const added = await run(`${add.replace('--name Main ', '')} --json`, options);
    expect(added.code, added.stderr).toBe(0);
    expect(added.stdout + added.stderr).not.toContain('secret-1');
    expect(JSON.parse(added.stdout)).toMatchObject({ provider: { id: 'main', credentials: [{ hasSecret: true }] } });
    const { secret } = (await ask('key create laptop')) as { secret: string };
    const { baseUrl } = await running();
    await fetch(`${baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-x', messages: [] }),
    });
    const asked = upstream.seen.find(({ url }) => url.endsWith('/chat/completions'));
    expect(asked?.headers.authorization).toBe('Bearer secret-1');
  });

  test('a provider is switched, tested, given a credential and removed', async () => {
    expect((await addProvider('--header X-Team:red')).code).toBe(0);
    expect(await ask('provider list')).toEqual([
      expect.objectContaining({ id: 'main', baseUrl: upstream.baseUrl, enabled: true, headers: { 'X-Team': 'red' } }),
    ]);
    expect(await ask('provider disable main')).toMatchObject({ provider: { enabled: false } });
    expect(await ask('provider enable main')).toMatchObject({ provider: { enabled: true } });
    expect(await ask('provider credential main --credential-stdin', { input: 'secret-2' })).toMatchObject({
      credential: { id: 'c1', hasSecret: true },
    });
    expect(await ask('provider test main')).toMatchObject({ provider: 'main', ok: true });
    expect(await ask('provider models main')).toContain('gpt-x');
    expect((await run('provider list')).stdout).toMatch(/HEALTH.*\n.*\bok\b/);
    expect(await ask('provider reset main c1')).toMatchObject({ provider: { id: 'main', health: { state: 'ok' } } });
    expect((await run('provider reset main')).stdout).toContain('The health of provider "main" is reset.');
    expect(await run('provider reset nobody')).toMatchObject({ code: 1, stderr: expect.stringContaining('nobody') });
    await ask('provider remove main');
    expect(await run('provider list')).toMatchObject({ stdout: expect.not.stringContaining(upstream.baseUrl) });
  });

  test('limits of keys and groups are set, shown with what is used of them, and taken away', async () => {
    const { secret } = (await ask('key create laptop --limit requests=60,usd=5/day')) as { secret: string };
    await ask('key limit laptop requests=2 concurrent=3 tokens=1000/minute usd=5/day tokens=100000/month:soft');
    const limits = {
      requestsPerMinute: 2,
      tokensPerMinute: 1000,
      concurrent: 3,
      budgets: [
        { unit: 'usd', amount: 5, per: 'day', hard: true },
        { unit: 'tokens', amount: 100_000, per: 'month', hard: false },
      ],
    };
    expect(await ask('key show laptop')).toMatchObject({ limits });
    await ask('group put default --limit concurrent=9');
    const { baseUrl } = await running();
    const call = { model: 'demo-chat', messages: [{ role: 'user', content: 'hello' }] };
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
    const asked = () => fetch(`${baseUrl}/chat/completions`, { method: 'POST', headers, body: JSON.stringify(call) });
    const statuses: number[] = [];
    for (let count = 0; count < 3; count++) {
      const response = await asked();
      await response.text();
      statuses.push(response.status);
    }
    expect(statuses).toEqual([200, 200, 429]);
    const { stdout } = await run('usage --limits');
    expect(stdout).toMatch(/^OF +ID +LIMIT +USED +RESETS\nkey +laptop +2 requests per minute +2 +\d{4}-/);
    expect(stdout).toMatch(/^key +laptop +\$5 per day +\$0\.0000/m);
    expect(stdout).toMatch(/^group +default +9 at the same time +0/m);
    await ask('key limit laptop none');
    expect(await ask('key show laptop')).toMatchObject({ limits: null, limitUse: [] });
    await ask('group put default --limit none');
    expect(await run('usage --limits')).toMatchObject({ stdout: 'No key or group has limits.\n' });
  });

  test('a group’s passthrough is set, switched off and forgotten', async () => {
    await addProvider();
    const group = () => ask('group list');
    await ask('group put default --passthrough main');
    expect(await group()).toMatchObject([{ passthrough: 'main' }]);
    const outside = await run('group put default --providers other');
    expect(outside.stderr).toContain('Provider "main" gets nothing of it: the group may not use it.');
    await ask('group put default --passthrough none');
    expect(await group()).toMatchObject([{ passthrough: null }]);
    await ask('group put default --passthrough usual');
    expect(await group()).not.toHaveProperty('0.passthrough');
    expect((await run('group put default --passthrough nobody')).stderr).toContain('there is no provider "nobody"');
  });

  test('groups and aliases are stored, listed and removed; routes follow them', async () => {
    await addProvider();
    await ask('group put team --models gpt-* --deny gpt-secret --order main=0:2 --default chat=gpt-x --capture');
    await ask('group put team --policy strategy=sticky,retries=1,timeouts.idleMs=9000,timeouts.connectMs=7000');
    await ask('group put team --name Team --policy timeouts.idleMs=usual --policy rescue=off');
    const outside = await run('group put lost --models llama-* --default chat=gpt-x');
    expect(outside.stderr).toContain('The default for chat, "gpt-x", would be refused: the group does not allow it');
    await ask('group remove lost');
    expect(await ask('group list')).toContainEqual(
      expect.objectContaining({
        id: 'team',
        name: 'Team',
        models: ['gpt-*'],
        deny: ['gpt-secret'],
        order: [{ provider: 'main', priority: 0, weight: 2 }],
        defaults: { chat: 'gpt-x' },
        capture: true,
        policy: expect.objectContaining({
          ...{ strategy: 'sticky', retries: 1, fallbacks: 3, rescue: 'off', timeouts: { connectMs: 7_000 } },
        }),
        keyCount: 0,
      }),
    );
    await ask('alias put fast --target main/llama3:8b,priority=1,weight=3,context=8192 --target main/gpt-x');
    expect(await ask('alias list')).toEqual([
      {
        name: 'fast',
        targets: [
          { provider: 'main', model: 'llama3:8b', priority: 1, weight: 3, contextTokens: 8_192 },
          { provider: 'main', model: 'gpt-x', priority: 0, weight: 1 },
        ],
      },
    ]);
    const names = async (whose: string) => ((await ask(`model list ${whose}`)) as { id: string }[]).map(({ id }) => id);
    expect(await names('--group default')).toEqual(['fast', 'gpt-x']);
    expect(await names('--group team')).toEqual(['gpt-x']);
    const route = (await ask('route explain --group default --model fast')) as { candidates: { model: string }[] };
    expect(route.candidates.slice(0, 2).map(({ model }) => model)).toEqual(['gpt-x', 'llama3:8b']);
    const asClaudeCode = await run('route explain --model fast --api anthropic-messages');
    expect(asClaudeCode.stdout).toMatch(
      /main gpt-x\n {4}anthropic-messages -> openai-chat: translated\n {6}left out: .*top_k/,
    );
    const refused = await run('route explain --group team --model gpt-secret');
    expect(refused.stdout).toContain('is refused (model_not_found)');
    await ask('alias remove fast');
    await ask('group remove team');
    expect(await ask('alias list')).toEqual([]);
    expect(await ask('group list')).toHaveLength(1);
  });

  test('the configuration goes out and in again without secrets', async () => {
    await ask(`provider add --url ${upstream.baseUrl} --id main --credential-stdin`, { input: 'planted-secret' });
    const exported = await run('export');
    expect(exported.stdout).not.toContain('planted-secret');
    expect(JSON.parse(exported.stdout)).toMatchObject({ version: 1, providers: [{ id: 'main' }] });
    const file = join(folder, 'exported.json');
    expect(await ask(`export ${file}`)).toEqual({ file });
    expect(readFileSync(file, 'utf8')).toBe(exported.stdout);
    await ask('provider remove main');
    expect(await ask(`import ${file}`)).toMatchObject({ missingSecrets: ['main/c1'] });
    expect(await ask('import -', { input: exported.stdout })).toMatchObject({ revision: expect.any(Number) });
    expect(await ask('provider list')).toEqual([expect.objectContaining({ id: 'main' })]);
    const broken = await run('import -', { input: '{ "version": 1, "providers": 5 }' });
    expect(broken).toMatchObject({ code: 1, stderr: expect.stringContaining('providers: ') });
  });

  test('requests and usage are listed', async () => {
    const { secret } = (await ask('key create laptop')) as { secret: string };
    const { baseUrl } = await running();
    const reply = await fetch(`${baseUrl}/embeddings`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'demo-embedding', input: 'hello' }),
    });
    await reply.arrayBuffer();
    if (!isRunning) await serving?.end();
    const log = await run('log --limit 5 --json');
    expect(log.stdout.trim().split('\n')).toHaveLength(1);
    expect(JSON.parse(log.stdout)).toMatchObject({
      route: '/v1/embeddings',
      keyId: 'laptop',
      status: 200,
      outcome: 'ok',
    });
    expect((await run('log')).stdout).toContain('demo-embedding');
    expect((await run('log')).stdout).not.toContain('Refused');
    const one = await run(`log ${JSON.parse(log.stdout).id}`);
    expect(one.stdout).toMatch(/^outcome: +ok 200\n(?:.*\n)*ATTEMPT.*\nfirst +demo/m);
    const csv = (await run('log --export csv --since 1d')).stdout.split('\r\n');
    expect(csv).toEqual([expect.stringMatching(/^id,started_at,key,/), expect.stringContaining(',laptop,'), '']);
    expect(JSON.parse((await run('log --export jsonl')).stdout)).toMatchObject({ keyId: 'laptop' });
    expect((await run('log --export csv --since 2020-01-01 --until 2020-01-02')).stdout).not.toContain('laptop');
    expect(await ask('usage --by key --since 1d')).toEqual([expect.objectContaining({ name: 'laptop', requests: 1 })]);
    expect((await run('usage')).stdout).toMatch(/^DAY /);
  });

  test('doctor looks at everything and names the hop that fails', async () => {
    // Not the usual port, which a Sluice of this machine may have.
    if (!isRunning) writeConfig(folder, await closedPort());
    await addProvider();
    const proxy = { env: { HTTPS_PROXY: 'http://user:planted-secret@proxy.example:3128', no_proxy: 'localhost' } };
    const good = await runProgram('doctor --json', proxy);
    expect(good.code, good.stdout).toBe(0);
    expect(good.stdout).not.toContain('planted-secret');
    const { findings } = JSON.parse(good.stdout) as { findings: { name: string; message: string }[] };
    expect(findings.map(({ name }) => name)).toEqual([
      'node',
      'data folder',
      'secrets',
      'port',
      'proxy',
      'ca',
      'provider main',
    ]);
    expect(findings[4]?.message).toContain('proxy.example:3128');
    await upstream.stop();
    const bad = await runProgram('doctor', { env: { NODE_EXTRA_CA_CERTS: '/no/such.pem' } });
    expect(bad.code).toBe(1);
    expect(bad.stdout).toMatch(/FAILED {2}ca: .*\/no\/such\.pem/);
    expect(bad.stdout).toMatch(/FAILED {2}provider main: /);
    upstream = await startUpstream();
  });

  test('what is refused ends with 1 and says why, as JSON if asked', async () => {
    const { code, stdout, stderr } = await runProgram('key revoke no-such-key --json');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(JSON.parse(stderr.trim().split('\n').at(-1) ?? '')).toMatchObject({
      error: { code: 'not_found', message: expect.stringContaining('no-such-key') },
    });
  });
});

test('doctor knows the Sluice that has its port, and says on which data folder it runs', async () => {
  const [folder, other] = [temporaryFolder(), temporaryFolder()];
  const { ready } = await serve(other);
  const { port } = new URL(ready.baseUrl);
  writeConfig(folder, Number(port));
  const { code, stdout } = await runCli(['doctor', '--data-dir', folder]);
  const who = process.platform === 'linux' ? `Sluice (process ${ready.pid}, data folder ${other})` : 'Sluice';
  expect(code).toBe(1);
  expect(stdout).toContain(`FAILED  port: ${port} is taken by ${who}`);
});

function writeConfig(folder: string, port: number): void {
  writeFileSync(
    join(folder, 'config.json'),
    JSON.stringify({ version: 1, groups: [{ id: 'default' }], settings: { port } }),
  );
}

test('log and doctor tell of requests with a wrong key, and --json lists none of them', async () => {
  const folder = temporaryFolder();
  const { ready, end } = await serve(folder);
  const headers = { authorization: 'Bearer sk-of-another-service', 'user-agent': 'Tool/1.2' };
  for (let times = 0; times < 3; times++) await fetch(`${ready.baseUrl}/models`, { headers });
  const told =
    /Refused without a valid key in the last hour: 3 \(invalid_api_key\), the last [-\d]+ [:\d]+ from "Tool\/1\.2"\./;
  expect((await runCli(['log', '--data-dir', folder])).stdout).toMatch(told);
  expect((await runCli(['log', '--json', '--data-dir', folder])).stdout).toBe('');
  expect((await runCli(['doctor', '--data-dir', folder])).stdout).toMatch(told);
  await end();
});

test('log --follow prints what was and each request as it ends, and ends with the Sluice it follows', async () => {
  const folder = temporaryFolder();
  const { ready, end } = await serve(folder);
  await listModels(ready);
  const follower = spawnCli(['log', '--follow', '--json', '--data-dir', folder]);
  const routes = () =>
    follower.output.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line || '{}').route);
  await eventually(() => follower.output.stdout.endsWith('\n'));
  expect(routes()).toEqual(['/v1/models']);
  await listModels(ready, '/models/demo-chat');
  await eventually(() => routes().length === 2);
  expect(routes()).toEqual(['/v1/models', '/v1/models/{model}']);
  await end();
  expect(await follower.ended).toBe(0);
});

test('window prints an address that opens the window once, and says so if there is none', async () => {
  const folder = temporaryFolder();
  const refused = await runCli(['window', '--data-dir', folder]);
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  const serving = await serve(folder);
  const { url } = (await runJson(['window', '--data-dir', folder])) as { url: string };
  expect(url).toMatch(new RegExp(`^${serving.ready.baseUrl.replace('/v1', '')}/control/session`));
  const visit = () => fetch(url, { redirect: 'manual' });
  expect((await visit()).headers.get('set-cookie')).toContain('HttpOnly');
  expect((await visit()).status).toBe(403);
});

test('window --sign-out-everywhere ends the sessions of browsers, whether Sluice runs or not', async () => {
  const folder = temporaryFolder();
  const serving = await serve(folder);
  const signIn = async (url: string) => (await fetch(url, { redirect: 'manual' })).headers.get('set-cookie') ?? '';
  const [cookie = ''] = (await signIn(serving.ready.windowUrl)).split(';');
  const isIn = async ({ ready }: Serving) => {
    const headers = { cookie, 'sec-fetch-site': 'same-origin' };
    const response = await fetch(`${ready.baseUrl.replace('/v1', '')}/control/events`, { headers });
    await response.body?.cancel();
    return response.status === 200;
  };
  expect(await isIn(serving)).toBe(true);
  await serving.end();
  const again = await serve(folder);
  expect(await isIn(again)).toBe(true);
  await again.end();
  const { stdout } = await runCli(['window', '--sign-out-everywhere', '--data-dir', folder]);
  expect(stdout).toBe('Signed out: 1 browser.\n');
  expect(await isIn(await serve(folder))).toBe(false);
  expect(await runJson(['window', '--sign-out-everywhere', '--data-dir', folder])).toEqual({ ended: 0 });
});

test('log --follow ends when nobody reads it any more', async () => {
  const folder = temporaryFolder();
  const { ready } = await serve(folder);
  const command = `"${process.execPath}" "${builtProgram}" log --follow --json --data-dir "${folder}" | head -n 1`;
  let isOver = false;
  const followed = promisify(exec)(command).finally(() => {
    isOver = true;
  });
  while (!isOver) await listModels(ready);
  const { stdout, stderr } = await followed;
  expect(JSON.parse(stdout)).toMatchObject({ route: '/v1/models' });
  expect(stderr).toBe('');
});

test('export says why a file cannot be written', async () => {
  const { code, stderr } = await runCli(['export', '/nowhere/x.json', '--data-dir', temporaryFolder()]);
  expect(code).toBe(1);
  expect(stderr).toBe('sluice: /nowhere/x.json cannot be written: there is no such file (ENOENT).\n');
});

test('log --follow says so if there is nothing to follow', async () => {
  const { code, stderr } = await runCli(['log', '--follow', '--data-dir', temporaryFolder()]);
  expect(code).toBe(1);
  expect(stderr).toContain('No Sluice is running on');
});

test('doctor and a missing credential name what the environment holds already', async () => {
  const options = { env: { SLUICE_DATA_DIR: temporaryFolder(), GROQ_API_KEY: 'planted-4711' } };
  const doctor = await runCli(['doctor'], options);
  expect(doctor.stdout).toContain('provider add groq --credential-ref env:GROQ_API_KEY');
  const add = await runCli(['provider', 'add', 'groq'], options);
  expect(add.code).toBe(2);
  expect(add.stderr).toContain('--credential-env GROQ_API_KEY');
  expect(doctor.stdout + add.stderr).not.toContain('planted');
});

test.each([
  [['key', 'create', '--expires', 'soon'], 'Use a date'],
  [['key', 'create', '--expires', '2020-01-01'], 'in the past'],
  [['alias', 'put', 'fast', '--target', 'nonsense'], 'provider/model'],
  [['group', 'put', 'team', '--default', 'singing=x'], 'capability=model'],
  [['group', 'put', 'team', '--default', 'chatx'], 'capability=model'],
  [['group', 'put', 'team', '--policy', 'strategy=best'], 'strategy=sticky'],
  [['group', 'put', 'team', '--policy', 'retries'], 'is not name=value'],
  [['group', 'put', 'team', '--policy', '{"retries":'], 'not JSON'],
  [['usage', '--by', 'mood'], 'Allowed choices'],
  [['key', 'create', '--limit', 'requests=0'], 'Use limits such as'],
  [['key', 'create', '--limit', 'requests=5/day'], 'Use limits such as'],
  [['group', 'put', 'team', '--unpriced', 'maybe'], 'refuse, allow'],
  [['group', 'put', 'team', '--limit', 'usd=5'], 'Use limits such as'],
  [['key', 'limit', 'k1', 'nonsense'], 'Use limits such as'],
  [['log', '--limit', '0'], 'from 1 to 1000'],
  [['provider', 'add', '--header', 'nonsense'], 'Name: value'],
  [['nonsense'], 'unknown command'],
])('%j ends with 2 and says what is wrong', async (parameters, message) => {
  const { code, stdout, stderr } = await runVerb(parameters, { env: { SLUICE_DATA_DIR: temporaryFolder() } });
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(message);
});

test('help is on stdout, ends with 0 and tells why a credential is no argument', async () => {
  const program = await runCli(['--help']);
  expect(program.code).toBe(0);
  for (const verb of [
    'serve',
    'key',
    'provider',
    'group',
    'alias',
    'model',
    'route',
    'log',
    'usage',
    'export',
    'import',
    'doctor',
  ]) {
    expect(program.stdout).toMatch(new RegExp(`^  ${verb}\\b`, 'm'));
  }
  const add = await runCli(['provider', 'add', '--help']);
  expect(add.stdout).toContain('never passed as an argument');
});

async function listModels({ baseUrl, key }: Ready, path = '/models'): Promise<void> {
  const response = await fetch(baseUrl + path, { headers: { authorization: `Bearer ${key}` } });
  await response.arrayBuffer();
}
