/** Which paths are passed through, for whom, and what is recorded about them. */
import { PassThrough } from 'node:stream';
import pino from 'pino';
import { beforeEach, describe, expect, test } from 'vitest';
import type { ConfigInput } from '../../../../server/contract/config.ts';
import { hashOf, mainProvider, startGateway, type TestGateway, testKey } from '../../../support/gateway.ts';
import { stopAfterEach } from '../../../support/stop-after-each.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../../support/upstream.ts';
import { startControlGateway } from '../../control/control-gateway.ts';

const stopLater = stopAfterEach();
let upstream: ScriptedUpstream;
let gateway: TestGateway;

beforeEach(async () => {
  upstream = await stopLater(startUpstream());
});

async function start(config: Partial<ConfigInput> = {}): Promise<void> {
  gateway = await stopLater(
    startControlGateway({
      config: { providers: [mainProvider(upstream.baseUrl)], ...config },
      secrets: { 'provider/main/c1': 'upstream-secret' },
    }),
  );
}

const second = () => ({ ...mainProvider(upstream.origin), id: 'second', credentials: [] });
const tell = async (response: Response) => {
  const text = await response.text();
  const { error } = text ? JSON.parse(text) : { error: undefined };
  return { status: response.status, code: error?.code, message: String(error?.message) };
};
const run = (path: string): Promise<Response> =>
  gateway.fetch(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' });

describe('the provider', () => {
  test('of the first group is its only one, without a setting', async () => {
    await start();
    expect((await gateway.fetch('/files')).status).toBe(200);
  });

  test.each<[string, Partial<ConfigInput>, RegExp]>([
    ['of several without a setting', {}, /"passthrough" of group "default" is not set/],
    ['of a group that has it switched off', { groups: [{ id: 'default', passthrough: null }] }, /is off/],
    [
      'of another group without a setting',
      { groups: [{ id: 'team', providers: ['main'] }], keys: [{ id: 'k1', group: 'team', hash: hashOf(testKey) }] },
      /"passthrough" of group "team" is not set.*sluice group put team --passthrough PROVIDER/,
    ],
    [
      'that the group may not use',
      { groups: [{ id: 'default', providers: ['main'], passthrough: 'second' }] },
      /names provider "second", which the group may not use/,
    ],
  ])('%s is none: 404 says what to set', async (_case, config, message) => {
    await start({ providers: [mainProvider(upstream.baseUrl), second()], ...config });
    const told = await tell(await gateway.fetch('/files'));
    expect(told).toMatchObject({ status: 404, code: 'unknown_url', message: expect.stringMatching(message) });
    expect(told.message).toMatch(/^Invalid URL \(GET \/v1\/files\)\. Sluice does not serve this itself/);
    expect(await tell(await gateway.fetch('/chat/completions'))).toMatchObject({ status: 405 });
    expect(upstream.seen).toEqual([]);
  });

  test('that is chosen is asked, whichever others there are', async () => {
    const groups = [{ id: 'default', passthrough: 'second' }];
    await start({ providers: [mainProvider(upstream.baseUrl), second()], groups });
    expect((await gateway.fetch('/files')).status).toBe(200);
    expect(upstream.seen.at(-1)?.url).toBe('/files');
  });

  test('is never the demo, and no provider that is not there', async () => {
    await start({ providers: [], settings: { demo: 'on' } });
    expect((await gateway.fetch('/files')).status).toBe(404);
    const choose = (passthrough: string) =>
      gateway.gateway.execute({ type: 'group.put', group: { id: 'default', passthrough } });
    await expect(choose('demo')).rejects.toThrow(/demo serves nothing that Sluice does not serve itself/);
    await expect(choose('nobody')).rejects.toThrow(/there is no provider "nobody"/);
  });

  test('that is removed is not replaced by another', async () => {
    const groups = [{ id: 'default', passthrough: 'second' }];
    await start({ providers: [mainProvider(upstream.baseUrl), second()], groups });
    await gateway.gateway.execute({ type: 'provider.remove', id: 'second' });
    expect(await tell(await gateway.fetch('/files'))).toMatchObject({ status: 404 });
    expect((await gateway.gateway.query({ type: 'groups' }))[0]?.passthrough).toBeNull();
  });

  test('that a team has fixed cannot be changed', async () => {
    await start({ providers: [mainProvider(upstream.baseUrl), second()] });
    const preset = {
      teamPreset: 1 as const,
      name: 'Team',
      organisation: 'Acme',
      groups: [{ id: 'default', passthrough: 'second' }],
      locked: ['groups/default/passthrough'],
    };
    await gateway.gateway.execute({ type: 'team-preset.apply', preset });
    expect((await gateway.fetch('/files')).status).toBe(200);
    const change = gateway.gateway.execute({ type: 'group.put', group: { id: 'default', passthrough: 'main' } });
    await expect(change).rejects.toMatchObject({ code: 'locked' });
  });

  test('that is switched off is said to be', async () => {
    await start({ providers: [mainProvider(upstream.baseUrl, { enabled: false })] });
    expect(await tell(await gateway.fetch('/files'))).toMatchObject({ status: 503, code: 'no_healthy_provider' });
  });
});

describe('a path', () => {
  test.each([
    '/organization/users',
    '/organization',
    '/v1/organization/admin_api_keys',
    '/projects/proj_1/roles',
    '/../openai/v1/organization/usage/completions',
    '/../openai/organization/users',
  ])('of the API that administers an organisation is refused: %s', async (path) => {
    await start();
    const told = await tell(
      await fetch(`${gateway.baseUrl}${path}`, { headers: { authorization: `Bearer ${testKey}` } }),
    );
    expect(told).toMatchObject({ status: 404, code: 'unknown_url', message: expect.stringContaining('administers') });
    expect(upstream.seen).toEqual([]);
  });

  test.each([
    '/%6frganization/users',
    '/organization%2Fusers',
    '/organization;x/users',
    '/files/..%2forganization%2fusers',
    '/files/%252e%252e%252forganization',
    '/%46iles',
  ])('that another server might read otherwise is refused: %s', async (path) => {
    await start();
    expect(await tell(await gateway.fetch(path))).toMatchObject({ status: 400, code: 'invalid_value' });
    expect(upstream.seen).toEqual([]);
  });

  test.each([
    '/Organization/users',
    '//organization/users',
    // `fetch` resolves the dot segments itself.
    '/files/%2e%2e/organization/users',
    '/files//x',
    `/files${'/x'.repeat(20)}`,
  ])('that is none of the API is unknown: %s', async (path) => {
    await start();
    expect(await tell(await gateway.fetch(path))).toMatchObject({ status: 404, code: 'unknown_url' });
    expect(upstream.seen).toEqual([]);
  });

  test('is asked for with a key alone, from pages that are allowed, and within the limits', async () => {
    const keys = [{ id: 'k1', group: 'default', hash: hashOf(testKey), limits: { requestsPerMinute: 3 } }];
    await start({ keys });
    expect((await fetch(`${gateway.baseUrl}/files`)).status).toBe(401);
    expect((await gateway.fetch('/files', { headers: { origin: 'https://evil.example' } })).status).toBe(403);
    expect((await gateway.fetch('/files', { headers: { 'x-sluice-hops': '9' } })).status).toBe(508);
    expect(upstream.seen).toEqual([]);
    const statuses = [];
    for (let index = 0; index < 4; index++) statuses.push((await gateway.fetch('/files')).status);
    expect(statuses).toEqual([200, 200, 200, 429]);
  });
});

describe('a passthrough request that may cost money', () => {
  const stored: [string, string][] = [
    ['POST', '/files'],
    ['POST', '/uploads/upload_1/parts'],
    ['POST', '/conversations/conv_1/items'],
    ['POST', '/threads/thread_1/messages'],
    ['POST', '/batches/batch_1/cancel'],
    ['DELETE', '/vector_stores/vs_1'],
    ['GET', '/fine_tuning/jobs'],
  ];
  const paid = [
    '/batches',
    '/threads/runs',
    '/threads/thread_1/runs',
    '/fine_tuning/jobs',
    '/evals/eval_1/runs',
    '/conversations/conv_1/answer',
    '/threads/thread_1/runs/run_1/submit_tool_outputs',
  ];
  const ask = async (method: string, path: string) => await tell(await gateway.fetch(path, { method }));

  test.each<[string, Partial<ConfigInput>, string]>([
    [
      'is refused to a key whose models are limited',
      { keys: [{ id: 'k1', group: 'default', hash: hashOf(testKey), models: ['gpt-x'] }] },
      'passthrough_refused',
    ],
    ['is refused where a group’s models are', { groups: [{ id: 'default', deny: ['o1*'] }] }, 'passthrough_refused'],
    [
      'is refused where a budget in dollars has to hold',
      { groups: [{ id: 'default', limits: { budgets: [{ unit: 'usd', amount: 5, per: 'day' }] } }] },
      'price_unknown',
    ],
    [
      'is refused where a budget of tokens has to hold',
      { groups: [{ id: 'default', limits: { budgets: [{ unit: 'tokens', amount: 5_000, per: 'day' }] } }] },
      'price_unknown',
    ],
  ])('%s, and one that only stores things is not', async (_case, config, code) => {
    await start(config);
    for (const path of paid) expect(await ask('POST', path)).toMatchObject({ status: 403, code });
    expect(upstream.seen).toEqual([]);
    for (const [method, path] of stored) expect((await ask(method, path)).status).toBe(200);
  });

  test('has an unknown cost in the ledger, and is allowed under a budget if its group allows unpriced requests', async () => {
    const budgets = [{ unit: 'usd' as const, amount: 5, per: 'day' as const }];
    await start({ groups: [{ id: 'default', unpriced: 'allow', limits: { budgets } }] });
    const rowOf = async (response: Response) => gateway.record(response.headers.get('x-sluice-request-id') ?? '');
    expect(await rowOf(await run('/batches'))).toMatchObject({ costUsd: null, usage: null });
    expect(await rowOf(await run('/files'))).toMatchObject({ costUsd: 0 });
    expect(await rowOf(await gateway.fetch('/batches'))).toMatchObject({ costUsd: 0 });
  });
});

test.each([
  ['openai', 'authorization', '/v1/files', '/new_thing'],
  // A key in Google's own place is what tells its clients.
  ['gemini', 'x-goog-api-key', '/v1beta/fileSearchStores', '/documents'],
] as const)(
  'no secret goes up to %s, or into row, log or capture, and ids are left out of the path',
  async (dialect, place, parent, action) => {
    const key = `sk-sluice-${'0aZ9'.repeat(8)}`;
    const logged: string[] = [];
    const sink = new PassThrough().on('data', (line: Buffer) => logged.push(line.toString()));
    const log = pino({ level: 'trace' }, sink);
    gateway = await stopLater(
      startGateway({
        config: {
          providers: [mainProvider(`${upstream.origin}${parent.slice(0, parent.lastIndexOf('/'))}`, { dialect })],
          groups: [{ id: 'default', capture: true }],
          keys: [{ id: 'k1', group: 'default', hash: hashOf(key) }],
        },
        ports: { log, logRequest: (record) => log.info(record) },
      }),
    );
    upstream.answer(({ headers }, response) => json(response, { said: headers[place], key }));
    const url = `${gateway.origin}${parent}/file-abc123${action}/part-1?key=${key}&limit=1`;
    const places = dialect === 'gemini' ? { 'x-goog-api-key': key } : {};
    const headers = { 'api-key': key, 'x-api-key': key, ...places, cookie: 'a=b', 'x-note': `my ${key}` };
    const response = await fetch(url, {
      method: 'POST',
      headers,
      body: new Blob([`{"note":"${key}"}`], { type: 'application/json' }),
    });
    expect(response.status).toBe(200);
    const seen = upstream.seen.at(-1);
    expect(seen?.url).toBe(`${parent}/file-abc123${action}/part-1?limit=1`);
    expect(JSON.stringify(seen?.headers)).not.toMatch(new RegExp(`${key}|a=b`));
    const id = response.headers.get('x-sluice-request-id') ?? '';
    const row = await gateway.record(id);
    expect(row).toMatchObject({
      route: `${parent}/{id}${action}/{id}`,
      keyId: 'k1',
      groupId: 'default',
      provider: 'main',
      status: 200,
      capability: 'passthrough',
      modelAsked: null,
    });
    expect(row.totalMs).toBeGreaterThan(0);
    const { capture } = await gateway.gateway.query({ type: 'request', id });
    expect(capture?.response.body?.data).toContain('[redacted]');
    expect(JSON.stringify([row, capture, logged])).not.toMatch(new RegExp(`${key}|upstream-secret`));
  },
);
