/** @suite long */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { closedPort } from '../../support/ports.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';
import {
  type CliOptions,
  endProgramsAfterEach,
  runCli,
  runJson,
  runVerb,
  type Serving,
  serve,
  temporaryFolder,
} from './run-cli.ts';

endProgramsAfterEach();

let upstream: ScriptedUpstream;
beforeEach(async () => {
  upstream = await startUpstream(({ method }, response) =>
    json(response, method === 'GET' ? { object: 'list', data: [{ id: 'gpt-x' }] } : { choices: [] }),
  );
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
  /** The running program, or one started now. */
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
    const rotated = (await ask('key rotate laptop --yes')) as { secret: string };
    expect(rotated.secret).not.toBe(secret);
    const { baseUrl } = await running();
    const status = async (key: string) =>
      (await fetch(`${baseUrl}/models`, { headers: { authorization: `Bearer ${key}` } })).status;
    expect(await status(rotated.secret)).toBe(200);
    expect(await status(secret)).toBe(401);
    const again = (await ask('key rotate laptop --grace 24h --yes')) as { secret: string };
    expect([await status(rotated.secret), await status(again.secret)]).toEqual([200, 200]);
    expect((await run('key list')).stdout).toContain(`…${again.secret.slice(-4)}`);
    expect((await run('key rotate laptop --grace 8d --yes')).stderr).toContain('At most 7d');
    await ask('key revoke laptop --yes');
    expect([await status(rotated.secret), await status(again.secret)]).toEqual([401, 401]);
  });

  test('a key made for a person is alone on stdout, and is not kept if they wish so', async () => {
    const made = await runProgram('key create once --no-keep');
    expect(made.stdout).toMatch(/^sk-sluice-\w+\n$/);
    expect(made.stderr).toContain('the only time');
    // The location of secrets is printed when Sluice starts, and by doctor.
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
    expect(await ask('provider test main')).toMatchObject({ provider: 'main', ok: true, call: { model: 'gpt-x' } });
    expect(await ask('provider models main')).toContain('gpt-x');
    // Of a test, only the Sluice that made it knows.
    const condition = isRunning ? /CONDITION.*\n.*Ready/ : /CONDITION.*\n.*Not tried yet/;
    expect((await run('provider list')).stdout).toMatch(condition);
    expect(await ask('provider reset main c1')).toMatchObject({ provider: { id: 'main', health: { state: 'ok' } } });
    expect((await run('provider reset main')).stdout).toContain('The health of provider "main" is reset.');
    expect(await run('provider reset nobody')).toMatchObject({ code: 1, stderr: expect.stringContaining('nobody') });
    await ask('provider remove main --yes');
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
    expect(stdout).toMatch(/^OF +ID +LIMIT +USED +RESETS +AT THIS PACE\nkey +laptop +2 requests per minute +2 +\d{4}-/);
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
    await ask('group remove lost --yes');
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
      /main gpt-x\n {4}anthropic-messages -> openai-chat: translated\n {6}dropped: .*top_k/,
    );
    const refused = await run('route explain --group team --model gpt-secret');
    expect(refused.stdout).toContain('is refused (model_not_found)');
    await ask('key create laptop');
    await ask('alias put fast --key laptop --target main/gpt-own');
    const shown = await run('key show laptop');
    expect(shown.stdout).toMatch(/fast +main\/gpt-own/);
    const own = (await ask('route explain --key laptop --model fast')) as { candidates: object[] };
    expect(own.candidates[0]).toMatchObject({ model: 'gpt-own', why: { code: 'own-alias' } });
    await ask('alias remove fast --key laptop --yes');
    expect(await ask('key show laptop')).toMatchObject({ aliases: [] });
    await ask('alias remove fast --yes');
    await ask('group remove team --yes');
    expect(await ask('alias list')).toEqual([]);
    expect(await ask('group list')).toHaveLength(1);
  });

  test('the configuration goes out and in again without secrets', async () => {
    await ask(`provider add --url ${upstream.baseUrl} --id main --credential-stdin`, { input: 'planted-secret' });
    const exported = await run('export');
    expect(exported.stdout).not.toContain('planted-secret');
    expect(JSON.parse(exported.stdout)).toMatchObject({ version: 2, providers: [{ id: 'main' }] });
    const file = join(folder, 'exported.json');
    expect(await ask(`export ${file}`)).toEqual({ file });
    expect(readFileSync(file, 'utf8')).toBe(exported.stdout);
    await ask('provider remove main --yes');
    expect(await ask(`import ${file} --yes`)).toMatchObject({ missingSecrets: ['main/c1'] });
    expect(await ask('import - --yes', { input: exported.stdout })).toMatchObject({ revision: expect.any(Number) });
    expect(await ask('provider list')).toEqual([expect.objectContaining({ id: 'main' })]);
    expect(await run('import -', { input: (await run('export')).stdout })).toMatchObject({
      code: 0,
      stdout: 'It changes nothing.\n',
    });
    const broken = await run('import - --yes', { input: '{ "version": 1, "providers": 5 }' });
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

  test('doctor examines everything and names the step that fails', async () => {
    // Avoids the default port, on which this machine may run a Sluice.
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
      'request log',
      'secrets',
      'port',
      'proxy',
      'ca',
      'provider main',
    ]);
    expect(findings.find(({ name }) => name === 'proxy')?.message).toContain('proxy.example:3128');
    await upstream.stop();
    const bad = await runProgram('doctor', { env: { NODE_EXTRA_CA_CERTS: '/no/such.pem' } });
    expect(bad.code).toBe(1);
    expect(bad.stdout).toMatch(/FAILED {2}ca: .*\/no\/such\.pem/);
    expect(bad.stdout).toMatch(/FAILED {2}provider main: /);
    upstream = await startUpstream();
  });

  test('what is refused ends with 1 and says why, as JSON if asked', async () => {
    const { code, stdout, stderr } = await runProgram('key revoke no-such-key --yes --json');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(JSON.parse(stderr.trim().split('\n').at(-1) ?? '')).toMatchObject({
      error: { code: 'not_found', message: expect.stringContaining('no-such-key') },
    });
  });
});

function writeConfig(folder: string, port: number): void {
  writeFileSync(
    join(folder, 'config.json'),
    JSON.stringify({ version: 1, groups: [{ id: 'default' }], settings: { port } }),
  );
}
