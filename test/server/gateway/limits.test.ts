/** Limits and budgets over real sockets: which requests are admitted, what is counted, and what the client receives. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import OpenAI, { RateLimitError } from 'openai';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { z } from 'zod';
import type { ConfigInput } from '../../../server/contract/config.ts';
import type { limitsSchema } from '../../../server/contract/limit-settings.ts';
import { refusalsListedPerMinute } from '../../../server/contract/request-views.ts';
import { openSqliteDatabase } from '../../../server/store/sqlite/database.ts';
import { createLedger } from '../../../server/store/sqlite/ledger.ts';
import { begun, eventually } from '../../support/eventually.ts';
import { hashOf, mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { eventStream, json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';
import { startControlGateway } from '../control/control-gateway.ts';

let upstream: ScriptedUpstream;
let sluice: TestGateway | undefined;

beforeEach(async () => {
  upstream = await startUpstream((_request, response) => json(response, completion()));
});

async function stopNow(): Promise<void> {
  const running = sluice;
  sluice = undefined;
  await running?.stop();
}

afterEach(async () => {
  await stopNow();
  await upstream.stop();
});

function completion(tokens = 100) {
  const usage = { prompt_tokens: tokens / 2, completion_tokens: tokens / 2, total_tokens: tokens };
  return { id: 'c', object: 'chat.completion', model: 'gpt-x', choices: [], usage };
}

type LimitsInput = z.input<typeof limitsSchema>;
type Given = { key?: LimitsInput; group?: LimitsInput; folder?: string; prices?: object };

function configOf({ key, group, prices = {} }: Given): ConfigInput {
  return {
    version: 1,
    providers: [mainProvider(upstream.baseUrl)],
    groups: [{ id: 'default', ...(group && { limits: group }) }, { id: 'other' }],
    keys: [
      { id: 'k1', name: 'My app', group: 'default', hash: hashOf(testKey), ...(key && { limits: key }) },
      { id: 'k2', group: 'default', hash: hashOf('second') },
      { id: 'k3', group: 'other', hash: hashOf('third') },
    ],
    settings: { prices: { 'gpt-x': { input: 1000, output: 1000 }, ...prices } },
  };
}

async function start(given: Given): Promise<TestGateway> {
  sluice = await startGateway({ ...(given.folder && { folder: given.folder }), config: configOf(given) });
  return sluice;
}

/** A gateway whose configuration can be changed. */
async function startChangeable(given: Given): Promise<TestGateway> {
  sluice = await startControlGateway({ config: configOf(given), secrets: { 'provider/main/c1': 'upstream-secret' } });
  return sluice;
}

const question = { model: 'gpt-x', messages: [{ role: 'user' as const, content: 'hello' }] };

function ask(gateway: TestGateway, more: object = {}, secret = testKey): Promise<Response> {
  return fetch(`${gateway.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...question, ...more }),
  });
}

async function statusOf(reply: Promise<Response>): Promise<number> {
  const response = await reply;
  await response.text();
  return response.status;
}

async function statuses(count: number, reply: () => Promise<Response>): Promise<Record<number, number>> {
  const all = await Promise.all(Array.from({ length: count }, () => statusOf(reply())));
  return Object.fromEntries(
    [...new Set(all)].sort().map((status) => [status, all.filter((one) => one === status).length]),
  );
}

describe('of 500 requests at once', () => {
  test('exactly as many pass as a key may send in a minute', async () => {
    const gateway = await start({ key: { requestsPerMinute: 60 } });
    expect(await statuses(500, () => ask(gateway))).toEqual({ 200: 60, 429: 440 });
    expect(upstream.seen).toHaveLength(60);
  });

  test('exactly as many pass as a group may send in a minute, whichever of its keys they bear', async () => {
    const gateway = await start({ group: { requestsPerMinute: 60 } });
    let count = 0;
    const reply = () => ask(gateway, {}, count++ % 2 === 0 ? testKey : 'second');
    expect(await statuses(500, reply)).toEqual({ 200: 60, 429: 440 });
    expect(await statusOf(ask(gateway, {}, 'third'))).toBe(200);
  });

  test('exactly as many run as may run at the same time, and each that ends makes room', async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    upstream.answer(async (_request, response) => {
      await held;
      json(response, completion());
    });
    const gateway = await start({ key: { concurrent: 10 } });
    const all = statuses(500, () => ask(gateway));
    await eventually(() => upstream.seen.length === 10);
    await eventually(async () => (await refusals(gateway)) === 490);
    release();
    expect(await all).toEqual({ 200: 10, 429: 490 });
    expect(upstream.seen).toHaveLength(10);
    expect(await statuses(10, () => ask(gateway))).toEqual({ 200: 10 });
  });

  test('a budget is not passed by more than what estimates cannot know', async () => {
    const gateway = await start({ key: { budgets: [{ unit: 'tokens', amount: 5_000, per: 'day', hard: true }] } });
    const passed = (await statuses(500, () => ask(gateway, { max_tokens: 80 })))[200] ?? 0;
    // Each request is estimated at about 105 tokens and uses 100.
    expect(passed).toBeGreaterThan(40);
    expect(passed).toBeLessThanOrEqual(50);
  });
});

describe('a client in a loop over its limit', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-loop-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  test('fills no storage: 30 rows each minute and reason, and exact counts, over a restart', async () => {
    const given = { folder, key: { requestsPerMinute: 5 } };
    const begunAt = Date.now();
    let passed = 0;
    for (const round of [1, 2]) {
      const gateway = await start(given);
      passed += (await statuses(400, () => ask(gateway)))[200] ?? 0;
      await eventually(async () => (await refusals(gateway)) === round * 400 - passed);
      if (round === 1) await stopNow();
    }
    const { gateway } = sluice as TestGateway;
    const { requests } = await gateway.query({ type: 'requests', limit: 1_000 });
    const refusedRows = requests.filter(({ status }) => status === 429).length;
    const minutes = Math.floor(Date.now() / 60_000) - Math.floor(begunAt / 60_000) + 1;
    expect(refusedRows).toBeGreaterThanOrEqual(refusalsListedPerMinute);
    // Each run counts anew.
    expect(refusedRows).toBeLessThanOrEqual((minutes + 1) * refusalsListedPerMinute);
    expect(await gateway.query({ type: 'refusals', sinceMs: begunAt - 60_000 })).toMatchObject([
      { keyId: 'k1', reason: 'rate_limit_exceeded', requests: 800 - passed - refusedRows },
    ]);
  });
});

async function refusals({ gateway }: TestGateway): Promise<number> {
  const rows = await gateway.query({ type: 'usage', by: 'key' });
  return rows.reduce((sum, { refused }) => sum + refused, 0);
}

describe('a limit', () => {
  test('of one key does not affect another key', async () => {
    const gateway = await start({ key: { requestsPerMinute: 1 } });
    expect(await statusOf(ask(gateway))).toBe(200);
    expect(await statusOf(ask(gateway))).toBe(429);
    expect(await statuses(20, () => ask(gateway, {}, 'second'))).toEqual({ 200: 20 });
  });

  test('by tokens counts what was really used', async () => {
    const gateway = await start({ key: { tokensPerMinute: 250 } });
    expect(await statusOf(ask(gateway))).toBe(200);
    expect(await statusOf(ask(gateway))).toBe(200);
    expect(await statusOf(ask(gateway))).toBe(200);
    const refused = await ask(gateway);
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({ error: { type: 'tokens', code: 'rate_limit_exceeded' } });
  });

  test('does not count the list of models', async () => {
    const gateway = await start({ key: { requestsPerMinute: 1 } });
    for (let count = 0; count < 3; count++) expect((await gateway.fetch('/models')).status).toBe(200);
    expect(await statusOf(ask(gateway))).toBe(200);
  });

  test('is not used up by a request that is refused', async () => {
    const gateway = await start({ key: { requestsPerMinute: 5 }, group: { requestsPerMinute: 1 } });
    expect(await statusOf(ask(gateway))).toBe(200);
    expect(await statuses(10, () => ask(gateway))).toEqual({ 429: 10 });
    const { headers } = await ask(gateway);
    expect(headers.get('x-ratelimit-limit-requests')).toBe('1');
    const [key] = (await gateway.gateway.query({ type: 'keys' })).filter(({ id }) => id === 'k1');
    expect(key?.limitUse).toMatchObject([{ kind: 'requests', used: 1 }]);
  });

  test('is given back by a request that reached no provider', async () => {
    const gateway = await startChangeable({ key: { requestsPerMinute: 1, tokensPerMinute: 1_000 } });
    const gone = await startUpstream();
    await gone.stop();
    await gateway.gateway.execute({ type: 'provider.update', id: 'main', changes: { baseUrl: gone.baseUrl } });
    expect(await statusOf(ask(gateway))).toBe(502);
    await gateway.gateway.execute({ type: 'provider.update', id: 'main', changes: { baseUrl: upstream.baseUrl } });
    expect(await statusOf(ask(gateway))).toBe(200);
  });

  test('holds as soon as it is changed, and keeps what was counted', async () => {
    const gateway = await startChangeable({ key: { requestsPerMinute: 2 } });
    expect(await statuses(2, () => ask(gateway))).toEqual({ 200: 2 });
    expect(await statusOf(ask(gateway))).toBe(429);
    const limit = (limits: LimitsInput | null) =>
      gateway.gateway.execute({ type: 'key.update', id: 'k1', changes: { limits } });
    await limit({ requestsPerMinute: 4 });
    expect(await statuses(5, () => ask(gateway))).toEqual({ 200: 2, 429: 3 });
    await limit(null);
    expect(await statuses(5, () => ask(gateway))).toEqual({ 200: 5 });
    await limit({ budgets: [{ unit: 'tokens', amount: 901, per: 'day', hard: true }] });
    expect(await statusOf(ask(gateway))).toBe(200);
    expect(await statusOf(ask(gateway))).toBe(429);
  });
});

describe('a budget', () => {
  test('in dollars is spent by what requests cost', async () => {
    const gateway = await start({ key: { budgets: [{ unit: 'usd', amount: 0.25, per: 'month', hard: true }] } });
    for (let count = 0; count < 3; count++) expect(await statusOf(ask(gateway))).toBe(200);
    const refused = await ask(gateway);
    expect(refused.status).toBe(429);
    expect(refused.headers.get('x-should-retry')).toBe('false');
    expect(refused.headers.get('retry-after')).toBeNull();
    const { error } = (await refused.json()) as { error: Record<string, unknown> };
    expect(error).toMatchObject({ code: 'insufficient_quota', type: 'insufficient_quota', param: null });
    expect(error.message).toMatch(
      /^The budget of key "My app" is spent: \$0\.3000 of \$0\.25 a month\. It resets on \d{4}-\d\d-01 00:00, in .+; change it in Sluice under Keys or with "sluice key limit k1 …"\.$/,
    );
  });

  test('that is soft refuses nothing and tells at 80 and 100 percent, once', async () => {
    const gateway = await start({ key: { budgets: [{ unit: 'tokens', amount: 500, per: 'day', hard: false }] } });
    const told: number[] = [];
    const stop = gateway.gateway.onEvent(({ event }) => {
      if (event.type === 'limit-reached') told.push(event.notice.percent);
    });
    for (let count = 0; count < 8; count++) expect(await statusOf(ask(gateway))).toBe(200);
    await eventually(() => told.length >= 2);
    stop();
    expect(told).toEqual([80, 100]);
  });

  test('holds over a restart, in total and by the day', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-test-'));
    try {
      for (const per of ['day', 'total'] as const) {
        const spentSoFar = per === 'day' ? 0 : 200;
        const budgets = [{ unit: 'tokens' as const, amount: spentSoFar + 200, per, hard: true }];
        const first = await start({ folder, key: { budgets } });
        expect(await statuses(2, () => ask(first, { max_tokens: 1 }))).toEqual({ 200: 2 });
        expect(await statusOf(ask(first))).toBe(429);
        await stopNow();
        const second = await start({ folder, key: { budgets } });
        expect(await statusOf(ask(second))).toBe(429);
        expect(await statusOf(ask(second, {}, 'second'))).toBe(200);
        await stopNow();
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test('counts the minute before a restart', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-test-'));
    try {
      const first = await start({ folder, key: { requestsPerMinute: 3 } });
      expect(await statuses(2, () => ask(first))).toEqual({ 200: 2 });
      await stopNow();
      const second = await start({ folder, key: { requestsPerMinute: 3 } });
      expect(await statuses(3, () => ask(second))).toEqual({ 200: 1, 429: 2 });
      await stopNow();
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe('a client', () => {
  test('of OpenAI gets RateLimitError, and waits as long as requested before it retries', async () => {
    const gateway = await start({ key: { concurrent: 1 } });
    let release = () => {};
    upstream.answer(async (_request, response) => {
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      json(response, completion());
    });
    const running = begun(ask(gateway));
    await eventually(() => upstream.seen.length === 1);
    const refused = await gateway.client.chat.completions.create(question).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(RateLimitError);
    expect(refused).toMatchObject({ status: 429, code: 'rate_limit_exceeded', type: 'requests' });
    upstream.answer((_request, response) => json(response, completion()));
    const patient = new OpenAI({ baseURL: gateway.baseUrl, apiKey: testKey, maxRetries: 1 });
    const startedMs = performance.now();
    const retried = begun(patient.chat.completions.create(question));
    await eventually(async () => (await refusals(gateway)) === 2);
    release();
    await running;
    await retried;
    expect(performance.now() - startedMs).toBeGreaterThan(900);
  });

  test('does not retry if a budget is spent', async () => {
    const gateway = await start({ key: { budgets: [{ unit: 'tokens', amount: 1, per: 'total', hard: true }] } });
    expect(await statusOf(ask(gateway))).toBe(200);
    const eager = new OpenAI({ baseURL: gateway.baseUrl, apiKey: testKey, maxRetries: 3 });
    const refused = await eager.chat.completions.create(question).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(RateLimitError);
    expect(refused).toMatchObject({ code: 'insufficient_quota' });
    expect(await refusals(gateway)).toBe(1);
  });

  test('with limits is told Sluice’s, of key and group the tightest; one without them the provider’s', async () => {
    upstream.answer((_request, response) =>
      json(response, completion(), 200, { 'x-ratelimit-limit-requests': '9999', 'x-ratelimit-remaining-tokens': '7' }),
    );
    const gateway = await start({ key: { requestsPerMinute: 60 }, group: { requestsPerMinute: 10 } });
    const limited = await ask(gateway);
    expect(limited.headers.get('x-ratelimit-limit-requests')).toBe('10');
    expect(limited.headers.get('x-ratelimit-remaining-requests')).toBe('9');
    expect(limited.headers.get('x-ratelimit-reset-requests')).toMatch(/^1m[01]s$/);
    expect(limited.headers.get('x-ratelimit-remaining-tokens')).toBeNull();
    const free = await ask(gateway, {}, 'third');
    expect(free.headers.get('x-ratelimit-limit-requests')).toBe('9999');
    expect(free.headers.get('x-ratelimit-remaining-tokens')).toBe('7');
  });

  test('is told when to retry', async () => {
    const gateway = await start({ key: { requestsPerMinute: 1 } });
    await statusOf(ask(gateway));
    const refused = await ask(gateway);
    const seconds = Number(refused.headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(55);
    expect(seconds).toBeLessThanOrEqual(61);
    const ms = Number(refused.headers.get('retry-after-ms'));
    expect(Math.ceil(ms / 1_000)).toBe(seconds);
    const { error } = (await refused.json()) as { error: { message: string } };
    expect(error.message).toMatch(
      /^Rate limit reached for key "My app": 1 requests per minute, used 1\. Please try again in .+s\. To allow more, change it/,
    );
  });

  test('that hangs up in the middle of a stream has used what came, not what was reserved', async () => {
    upstream.answer((_request, response) => {
      eventStream(response);
      response.write(
        `data: {"choices":[{"index":0,"delta":{"content":"${'some words and more words '.repeat(20)}"}}]}\n\n`,
      );
    });
    const gateway = await start({
      key: { tokensPerMinute: 100_000, budgets: [{ unit: 'tokens', amount: 9e9, per: 'day', hard: false }] },
    });
    const controller = new AbortController();
    const reply = await fetch(`${gateway.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...question, stream: true, max_tokens: 4_000 }),
      signal: controller.signal,
    });
    await reply.body?.getReader().read();
    const used = async () => {
      const [key] = await gateway.gateway.query({ type: 'keys' });
      return key?.limitUse.map((meter) => meter.used) ?? [];
    };
    expect((await used())[0]).toBeGreaterThan(4_000);
    controller.abort();
    const settled = await eventually(async () => (((await used())[0] ?? 0) < 4_000 ? used() : null));
    const row = await gateway.record();
    const known = (row.usage?.inputTokens ?? 0) + (row.usage?.outputTokens ?? 0);
    expect(known).toBeGreaterThan(50);
    expect(settled).toEqual([known, known]);
  });

  test('that hangs up in the middle of a stream leaves its place to the next', async () => {
    upstream.answer((_request, response) => {
      eventStream(response);
      response.write('data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n');
    });
    const gateway = await start({ key: { concurrent: 1 } });
    for (let count = 0; count < 3; count++) {
      const controller = new AbortController();
      const reply = await fetch(`${gateway.baseUrl}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ ...question, stream: true }),
        signal: controller.signal,
      });
      expect(reply.status).toBe(200);
      controller.abort();
      await eventually(async () => {
        const [row] = (await gateway.gateway.query({ type: 'requests' })).requests;
        return row?.outcome === 'client-gone';
      });
    }
  });
});

describe('GET /v1/usage', () => {
  test('tells a key its limits, what is left of them, and what it has used', async () => {
    const gateway = await start({
      key: { requestsPerMinute: 10, budgets: [{ unit: 'usd', amount: 5, per: 'month' }] },
      group: { concurrent: 4 },
    });
    for (let count = 0; count < 3; count++) await statusOf(ask(gateway));
    await statusOf(ask(gateway, {}, 'second'));
    const response = await gateway.fetch('/usage');
    expect(response.headers.get('x-sluice-request-id')).toMatch(/^req_/);
    const usage = (await response.json()) as { limits: unknown[]; today: unknown; month: unknown };
    expect(usage).toMatchObject({ object: 'usage', key: 'k1', name: 'My app', group: 'default' });
    expect(usage.limits).toEqual([
      expect.objectContaining({ of: 'key', limit: 'requests_per_minute', amount: 10, used: 3, remaining: 7 }),
      {
        object: 'limit',
        of: 'key',
        id: 'k1',
        limit: 'budget',
        unit: 'usd',
        per: 'month',
        hard: true,
        amount: 5,
        used: expect.closeTo(0.3, 9),
        remaining: expect.closeTo(4.7, 9),
        resets_at: expect.any(Number),
      },
      expect.objectContaining({ of: 'group', id: 'default', limit: 'concurrent', used: 0, resets_at: null }),
    ]);
    const sums = { requests: 3, input_tokens: 150, output_tokens: 150, cost_usd: expect.closeTo(0.3, 9) };
    expect(usage.today).toMatchObject(sums);
    expect(usage.month).toMatchObject(sums);
  });

  test('is neither limited nor told without a key, and takes nothing but GET', async () => {
    const gateway = await start({ key: { requestsPerMinute: 1 } });
    await statusOf(ask(gateway));
    for (let count = 0; count < 3; count++) expect((await gateway.fetch('/usage')).status).toBe(200);
    expect((await fetch(`${gateway.baseUrl}/usage`)).status).toBe(401);
    expect((await gateway.fetch('/usage', { method: 'POST' })).status).toBe(405);
  });
});

test('what runs when the program is killed counts against a budget as much as was reserved', async () => {
  const answers = Promise.withResolvers<void>();
  upstream.answer(async (_request, response) => {
    await answers.promise;
    json(response, completion());
  });
  const gateway = await start({ key: { budgets: [{ unit: 'usd', amount: 5, per: 'day', hard: true }] } });
  const running = begun(ask(gateway, { max_tokens: 1_000 }));
  // The files as a kill -9 leaves them.
  const left = join(mkdtempSync(join(tmpdir(), 'sluice-killed-')), 'ledger.sqlite');
  const spent = await eventually(() => {
    copyLedger(gateway.folder, left);
    const database = openSqliteDatabase(left);
    const ledger = createLedger({ database, log: { warn() {} } });
    const found = ledger.history.spent('key', 'k1', { startMs: -Infinity, endMs: Infinity });
    ledger.close();
    database.close();
    return found.tokens > 0 ? found : null;
  });
  expect(spent.tokens).toBeGreaterThan(1_000);
  expect(spent.usd).toBeCloseTo(spent.tokens / 1_000, 6);
  answers.resolve();
  expect((await running).status).toBe(200);
  rmSync(dirname(left), { recursive: true });
});

function copyLedger(folder: string, to: string): void {
  for (const suffix of ['', '-wal']) cpSync(join(folder, `ledger.sqlite${suffix}`), to + suffix);
  rmSync(`${to}-shm`, { force: true });
}
