/**
 * Background responses: their usage, which is reported later, counts once. Until then, the most that they may cost is
 * reserved.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { ConfigInput } from '../../../server/contract/config.ts';
import { eventually } from '../../support/eventually.ts';
import { hashOf, mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { eventStream, json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';
import { responseObject } from './streams.ts';

let upstream: ScriptedUpstream;
let sluice: TestGateway;
let folder: string;
/** The state of the jobs created so far. */
let state: object;

const usage = { input_tokens: 4_000, output_tokens: 6_000, total_tokens: 10_000 };
const running = { status: 'in_progress', usage: null, output: [] };
const completed = { status: 'completed', usage };

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-test-'));
  state = completed;
  let made = 0;
  upstream = await startUpstream(({ method, url }, response) => {
    const id = /responses\/(resp_\d+)/.exec(url)?.[1];
    if (method === 'DELETE') json(response, { id, deleted: true });
    else if (id) json(response, { ...responseObject('completed', { id }), ...state });
    else json(response, { ...responseObject('queued', { id: `resp_${++made}` }), usage: null, output: [] });
  });
});
afterEach(async () => {
  vi.useRealTimers();
  await sluice.stop();
  await upstream.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function start(tokens?: number): Promise<void> {
  const limits = tokens && { limits: { budgets: [{ unit: 'tokens' as const, amount: tokens, per: 'day' as const }] } };
  const config: Partial<ConfigInput> = {
    providers: [mainProvider(upstream.baseUrl)],
    groups: [{ id: 'default' }],
    keys: [
      { id: 'k1', group: 'default', hash: hashOf(testKey), ...limits },
      { id: 'k2', group: 'default', hash: hashOf('second') },
    ],
    settings: { prices: { 'gpt-x': { input: 1, output: 2, maxOutput: 20_000 } } },
  };
  sluice = await startGateway({ config, folder });
}

async function restart(tokens?: number): Promise<void> {
  await sluice.stop();
  await start(tokens);
}

const make = (init: RequestInit = {}) =>
  sluice.fetch('/responses', {
    ...init,
    method: 'POST',
    body: JSON.stringify({ model: 'gpt-x', input: 'hello', background: true }),
  });

const look = (id: string, init: RequestInit = {}) => sluice.fetch(`/responses/${id}`, init);

async function madeId(): Promise<string> {
  const response = await make();
  expect(response.status).toBe(200);
  return ((await response.json()) as { id: string }).id;
}

async function recordOf(response: Response) {
  await response.arrayBuffer();
  return sluice.record(response.headers.get('x-request-id') ?? '');
}

async function usedBy(key: string) {
  const rows = await sluice.gateway.query({ type: 'usage', by: 'key' });
  const { inputTokens = 0, outputTokens = 0, costUsd = 0 } = rows.find(({ name }) => name === key) ?? {};
  return { tokens: inputTokens + outputTokens, costUsd };
}

const once = { tokens: 10_000, costUsd: expect.closeTo(0.016, 9) };

test('a response in the background is booked to the first request that receives its usage, and to no other', async () => {
  await start();
  const created = await make();
  const { id } = (await created.clone().json()) as { id: string };
  expect(await recordOf(created)).toMatchObject({ usage: null, usageCertainty: 'none', costUsd: 0 });
  state = running;
  expect(await recordOf(await look(id))).toMatchObject({ usage: null, costUsd: 0 });
  state = completed;
  expect(await recordOf(await look(id))).toMatchObject({
    modelServed: null,
    modelAsked: 'gpt-x',
    usage: { inputTokens: 4_000, outputTokens: 6_000 },
    usageCertainty: 'reported',
    costUsd: expect.closeTo(0.016, 9),
  });
  expect(await recordOf(await look(id))).toMatchObject({ usage: null, costUsd: 0 });
  expect(await usedBy('k1')).toEqual(once);
  const [row] = await sluice.gateway.query({ type: 'usage', by: 'model' });
  expect(row).toMatchObject({ name: 'gpt-x', inputTokens: 4_000, unpricedRequests: 0 });
});

test.each(['asks for it in the same session', 'asks for it without a session', 'never asks'])(
  'the bill of a response in the background belongs to the session that made it, whose client %s',
  async (how) => {
    vi.useFakeTimers({ toFake: ['setInterval', 'Date'] });
    await start();
    const inSession = { headers: { authorization: `Bearer ${testKey}`, 'x-session-id': 'one-run' } };
    const created = await make(inSession);
    const { id } = (await created.json()) as { id: string };
    if (how === 'never asks') await vi.advanceTimersByTimeAsync(90_000);
    else await (await look(id, how.includes('same') ? inSession : {})).arrayBuffer();
    await eventually(async () => {
      const { sessions } = await sluice.gateway.query({ type: 'sessions' });
      expect(sessions).toMatchObject([{ ...{ inputTokens: 4_000, outputTokens: 6_000 }, costUsd: once.costUsd }]);
      expect(await usedBy('k1')).toEqual(once);
    });
  },
);

test('responses in the background end with a hard budget, and hold what they may cost until they have told it', async () => {
  await start(15_000);
  state = running;
  const id = await madeId();
  await look(id);
  const waiting = await make();
  expect(waiting.status).toBe(429);
  expect(await waiting.json()).toMatchObject({ error: { code: 'rate_limit_exceeded' } });
  await restart(15_000);
  expect((await make()).status).toBe(429);
  state = completed;
  await look(id);
  const second = await madeId();
  await look(second);
  const refused = await make();
  expect(refused.status).toBe(429);
  expect(await refused.json()).toMatchObject({ error: { code: 'insufficient_quota' } });
});

test('a response whose stream breaks off is booked when it has ended, and is not estimated before', async () => {
  await start();
  let isStreamed = false;
  upstream.answer(({ method }, response) => {
    const response1 = responseObject('in_progress', { id: 'resp_1' });
    if (method === 'GET') {
      json(response, { ...responseObject('completed', { id: 'resp_1' }), usage });
      return;
    }
    isStreamed = true;
    eventStream(response);
    const events = [
      { type: 'response.created', sequence_number: 0, response: response1 },
      {
        type: 'response.output_text.delta',
        sequence_number: 1,
        item_id: 'm',
        output_index: 0,
        content_index: 0,
        delta: 'Of',
      },
    ];
    const text = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
    response.write(text, () => setImmediate(() => response.destroy()));
  });
  const body = JSON.stringify({ model: 'gpt-x', input: 'hello', background: true, stream: true });
  const broken = await sluice.fetch('/responses', { method: 'POST', body });
  expect(await recordOf(broken)).toMatchObject({ outcome: 'stream-broken', usage: null, costUsd: 0 });
  expect(isStreamed).toBe(true);
  await recordOf(await look('resp_1'));
  expect(await usedBy('k1')).toEqual(once);
});

test.each([
  ['in one piece', [60]],
  ['in pieces, the first of which has the id', [40, 30]],
])(
  'a response whose answer is cut within its JSON is held, booked when it has ended, and made once: %s',
  async (_, cuts) => {
    await start(45_000);
    upstream.answer(({ method }, response) => {
      if (method === 'GET') {
        json(response, { ...responseObject('completed', { id: 'resp_cut' }), usage });
        return;
      }
      const text = JSON.stringify(
        { ...responseObject('queued', { id: 'resp_cut' }), usage: null, output: [] },
        null,
        2,
      );
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': text.length });
      let rest = text;
      const next = () => {
        const size = cuts.shift();
        if (size === undefined) {
          response.destroy();
          return;
        }
        response.write(rest.slice(0, size), () => setImmediate(next));
        rest = rest.slice(size);
      };
      next();
    });
    const broken = await make();
    expect(broken.status).toBe(502);
    expect(await recordOf(broken)).toMatchObject({ costUsd: 0, usage: null });
    expect(upstream.seen).toHaveLength(1);
    await recordOf(await look('resp_cut'));
    expect(await usedBy('k1')).toEqual(once);
  },
);

describe('responses whose streams break off right after they were named', () => {
  const named = () => {
    const id = `resp_${upstream.seen.length}`;
    const event = { type: 'response.created', sequence_number: 0, response: responseObject('in_progress', { id }) };
    return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
  };
  const body = JSON.stringify({ model: 'gpt-x', input: 'hello', background: true, stream: true });
  const stream = () => sluice.fetch('/responses', { method: 'POST', body });

  test.each([
    ['the connection', (response: ServerResponse) => void response.destroy()],
    ['the stream', (response: ServerResponse) => void response.end()],
  ])('are told to their clients, made once, held and booked (%s ends)', async (_, cut) => {
    await start(45_000);
    upstream.answer(({ method, url }, response) => {
      if (method === 'GET') {
        json(response, { ...responseObject('completed', { id: url.slice(url.lastIndexOf('/') + 1) }), usage });
        return;
      }
      eventStream(response);
      response.write(named(), () => setImmediate(() => cut(response)));
    });
    const replies = await Promise.all(
      Array.from({ length: 40 }, async () => {
        const reply = await stream();
        return { status: reply.status, text: await reply.text() };
      }),
    );
    const made = replies.filter(({ status }) => status === 200);
    // Each may have 20,000 tokens, and holds them when its request has ended.
    expect(made.length).toBe(3);
    expect(upstream.seen).toHaveLength(3);
    for (const { text } of made) expect(text).toContain('"id":"resp_');
    expect((await stream()).status).toBe(429);
    for (const id of ['resp_1', 'resp_2', 'resp_3']) await recordOf(await look(id));
    expect((await usedBy('k1')).tokens).toBe(30_000);
    expect((await stream()).status).toBe(200);
  });
});

test('a response whose client disconnected before the answer counts with its maximum cost, because its end is not seen', async () => {
  await start(15_000);
  upstream.answer(() => {});
  const leaving = new AbortController();
  const left = make({ signal: leaving.signal }).catch(() => null);
  await eventually(() => upstream.seen.length === 1);
  leaving.abort();
  await left;
  await eventually(async () => (await usedBy('k1')).tokens > 0);
  expect((await usedBy('k1')).tokens).toBeGreaterThanOrEqual(20_000);
  expect((await make()).status).toBe(429);
  expect(upstream.seen).toHaveLength(1);
});

test('many simultaneous requests for the same response book it once', async () => {
  await start();
  const id = await madeId();
  await Promise.all(Array.from({ length: 20 }, async () => recordOf(await look(id))));
  expect(await usedBy('k1')).toEqual(once);
});

test('a response is booked once over restarts', async () => {
  await start();
  const id = await madeId();
  await restart();
  await recordOf(await look(id));
  await restart();
  await recordOf(await look(id));
  expect(await usedBy('k1')).toEqual(once);
});

test('usage that another key of the group receives counts for the key that created the response', async () => {
  await start();
  const id = await madeId();
  await recordOf(await look(id, { headers: { authorization: 'Bearer second' } }));
  expect(await usedBy('k1')).toEqual(once);
  expect(await usedBy('k2')).toEqual({ tokens: 0, costUsd: 0 });
});

describe('a response in the background that reports no usage', () => {
  test('is estimated once it has ended', async () => {
    await start();
    const id = await madeId();
    state = {
      status: 'completed',
      usage: null,
      output: [{ type: 'message', content: [{ type: 'output_text', text: 'Of the gulls' }] }],
    };
    expect(await recordOf(await look(id))).toMatchObject({ usageCertainty: 'estimated' });
    expect((await usedBy('k1')).tokens).toBeGreaterThan(0);
  });

  test('costs nothing if it failed', async () => {
    await start(15_000);
    const id = await madeId();
    state = { status: 'failed', usage: null, output: [] };
    expect(await recordOf(await look(id))).toMatchObject({ usage: null, costUsd: 0 });
    expect((await make()).status).toBe(200);
  });

  test('counts with its reserved amount if its client deletes it', async () => {
    await start(15_000);
    const id = await madeId();
    const record = await recordOf(await look(id, { method: 'DELETE' }));
    expect(record).toMatchObject({ usage: { outputTokens: 20_000 }, usageCertainty: 'reserved' });
    expect((await make()).status).toBe(429);
  });
});

describe('Sluice itself polls', () => {
  const minuteMs = 60_000;

  test('a response that no client polls, until it has ended', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] });
    await start();
    state = running;
    const id = await madeId();
    vi.advanceTimersByTime(2 * minuteMs);
    await eventually(() => upstream.seen.length === 2);
    state = completed;
    // Sluice does not poll again until it has read the first answer.
    await eventually(async () => {
      vi.advanceTimersByTime(2 * minuteMs);
      return (await usedBy('k1')).tokens === 10_000;
    });
    expect(upstream.seen.map(({ method, url }) => `${method} ${url}`).slice(1)).toEqual(
      Array.from({ length: 2 }, () => `GET /v1/responses/${id}`),
    );
    const { requests } = await sluice.gateway.query({ type: 'requests' });
    expect(requests[0]).toMatchObject({ client: 'Sluice', keyId: 'k1', route: '/v1/responses/{id}' });
  });

  test('also for one with images, of many megabytes', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] });
    await start();
    state = { ...completed, output: [{ type: 'image_generation_call', result: 'A'.repeat(5 * 2 ** 20) }] };
    await madeId();
    await eventually(async () => {
      vi.advanceTimersByTime(2 * minuteMs);
      return (await usedBy('k1')).tokens === 10_000;
    });
  });

  test('for a day at most; then nothing is held for it any more', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] });
    await start(15_000);
    state = running;
    await madeId();
    expect((await make()).status).toBe(429);
    vi.setSystemTime(Date.now() + 25 * 60 * minuteMs);
    vi.advanceTimersByTime(2 * minuteMs);
    expect((await make()).status).toBe(200);
    expect(upstream.seen.filter(({ method }) => method === 'GET')).toEqual([]);
  });
});
