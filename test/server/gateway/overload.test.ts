import { once } from 'node:events';
import http, { type ClientRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { beforeEach, expect, test } from 'vitest';
import { begun, eventually } from '../../support/eventually.ts';
import { hashOf, mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { stopAfterEach } from '../../support/stop-after-each.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

const otherKey = 'sk-other';
const chat = JSON.stringify({ model: 'gpt-x', messages: [] });

const stopLater = stopAfterEach();
let upstream: ScriptedUpstream;
let gateway: TestGateway;
/** Replies that the upstream holds back, in the order of the requests. */
let held: { model: string; response: ServerResponse }[];

beforeEach(async () => {
  held = [];
  upstream = await stopLater(
    startUpstream(({ body }, response) => {
      held.push({ model: JSON.parse(body.toString()).model, response });
    }),
  );
});

/** @param siblings more keys in the first key's group */
async function start(
  admission: { running: number; waiting: number; waitMs?: number },
  siblings: { id: string; group: string; hash: string }[] = [],
): Promise<void> {
  gateway = await stopLater(
    startGateway({
      config: {
        providers: [mainProvider(upstream.baseUrl)],
        groups: [{ id: 'default' }, { id: 'other' }],
        keys: [
          { id: 'k1', group: 'default', hash: hashOf(testKey) },
          { id: 'k2', group: 'other', hash: hashOf(otherKey) },
          ...siblings,
        ],
        settings: { admission },
      },
    }),
  );
}

function ask(key = testKey, model = 'gpt-x'): Promise<Response> {
  const init = {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ model, messages: [] }),
  };
  return begun(fetch(`${gateway.baseUrl}/chat/completions`, init));
}

const waitFor = (asked: number) => eventually(() => upstream.seen.length >= asked);

test('a request beyond those that may run waits, and its row records for how long', async () => {
  await start({ running: 1, waiting: 10 });
  const first = ask();
  await waitFor(1);
  const second = ask();
  const refusedBefore = await ask('sk-nobody');
  expect(refusedBefore.status).toBe(401);
  expect(upstream.seen).toHaveLength(1);
  json(held[0]?.response as ServerResponse, { ok: 1 });
  await (await first).text();
  await waitFor(2);
  json(held[1]?.response as ServerResponse, { ok: 2 });
  const reply = await second;
  expect(await reply.json()).toEqual({ ok: 2 });
  const row = await gateway.record(reply.headers.get('x-request-id') ?? '');
  expect(row.queueMs).toBeGreaterThan(0);
  expect(row.queueMs).toBeLessThanOrEqual(row.totalMs ?? 0);
});

test('beyond the queue a request is refused at once, in OpenAI’s format, and nothing reaches the provider', async () => {
  await start({ running: 1, waiting: 0 });
  const first = ask();
  await waitFor(1);
  const reply = await ask();
  expect(reply.status).toBe(429);
  expect(reply.headers.get('retry-after')).toBe('5');
  expect(reply.headers.get('x-should-retry')).toBeNull();
  expect(await reply.json()).toEqual({
    error: {
      message: expect.stringContaining('settings.admission'),
      type: 'rate_limit_error',
      param: null,
      code: 'slow_down',
    },
  });
  expect(await gateway.record(reply.headers.get('x-request-id') ?? '')).toMatchObject({
    status: 429,
    errorCode: 'slow_down',
    attempts: [],
  });
  expect(upstream.seen).toHaveLength(1);
  json(held[0]?.response as ServerResponse, { ok: true });
  expect((await first).status).toBe(200);
});

test('the body of a refused request is never requested', async () => {
  await start({ running: 1, waiting: 0 });
  const first = ask();
  await waitFor(1);
  const request = http.request(`${gateway.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${testKey}`, expect: '100-continue', 'content-length': 50_000_000 },
  });
  let wasAsked = false;
  request.on('continue', () => {
    wasAsked = true;
  });
  request.flushHeaders();
  const [reply] = (await once(request, 'response')) as [IncomingMessage];
  expect([reply.statusCode, wasAsked]).toEqual([429, false]);
  request.on('error', () => {});
  request.destroy();
  json(held[0]?.response as ServerResponse, { ok: true });
  await first;
});

test('a request that has waited too long is refused', async () => {
  await start({ running: 1, waiting: 10, waitMs: 30 });
  const first = ask();
  await waitFor(1);
  const reply = await ask();
  expect([reply.status, reply.headers.get('retry-after')]).toEqual([429, '1']);
  json(held[0]?.response as ServerResponse, { ok: true });
  await first;
});

test('a client that disconnects while it waits leaves the queue', async () => {
  await start({ running: 1, waiting: 1 });
  const first = ask();
  await waitFor(1);
  const leaving: ClientRequest = http.request(`${gateway.baseUrl}/chat/completions`, {
    method: 'POST',
    agent: false,
    headers: { authorization: `Bearer ${testKey}` },
  });
  leaving.on('error', () => {});
  await new Promise<void>((resolve) => leaving.end(chat, resolve));
  await fetch(`${gateway.origin}/healthz`);
  // While it waits, the queue with one place is full.
  expect((await ask()).status).toBe(429);
  leaving.destroy();
  await eventually(async () => {
    const { requests } = await gateway.gateway.query({ type: 'requests', filter: { outcome: 'client-gone' } });
    return requests.length === 1;
  });
  const last = ask();
  json(held[0]?.response as ServerResponse, { ok: true });
  await (await first).text();
  await waitFor(2);
  json(held[1]?.response as ServerResponse, { ok: 'last' });
  expect(await (await last).json()).toEqual({ ok: 'last' });
  expect(upstream.seen).toHaveLength(2);
});

test('a flood of 500 of one group does not keep another group waiting', async () => {
  await start({ running: 10, waiting: 500 });
  const flood = Array.from({ length: 500 }, () => ask(testKey, 'flood'));
  // A tenth of the places stays free for other groups.
  await waitFor(9);
  const single = ask(otherKey, 'single');
  await eventually(() => held.some(({ model }) => model === 'single'));
  expect(upstream.seen).toHaveLength(10);
  upstream.answer((_request, response) => json(response, { ok: true }));
  for (const { response } of held) json(response, { ok: true });
  expect((await single).status).toBe(200);
  const statuses = (await Promise.all(flood)).map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([200]));
});

test('streams of one key leave places for the other keys of its group', async () => {
  const secret = 'sk-sibling';
  await start({ running: 20, waiting: 0 }, [{ id: 'k3', group: 'default', hash: hashOf(secret) }]);
  const flood = Array.from({ length: 20 }, () => ask());
  await waitFor(17);
  const sibling = ask(secret, 'sibling');
  await eventually(() => held.some(({ model }) => model === 'sibling'));
  for (const { response } of held) json(response, { ok: true });
  expect((await sibling).status).toBe(200);
  const statuses = (await Promise.all(flood)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(17);
  expect(statuses.filter((status) => status === 429)).toHaveLength(3);
});

test('in a full queue the flood makes room, and the other group is served next', async () => {
  await start({ running: 1, waiting: 20 });
  const flood = Array.from({ length: 40 }, () => ask(testKey, 'flood'));
  const refused = flood.map(async (reply) => (await reply).status);
  await waitFor(1);
  await eventually(async () => {
    const { requests } = await gateway.gateway.query({ type: 'requests', filter: { outcome: 'refused' }, limit: 100 });
    return requests.length >= 19;
  });
  const others = [ask(otherKey, 'single'), ask(otherKey, 'single')];
  await eventually(async () => {
    const { requests } = await gateway.gateway.query({ type: 'requests', filter: { outcome: 'refused' }, limit: 100 });
    return requests.length === 21;
  });
  const order: string[] = [];
  upstream.answer(({ body }, response) => {
    order.push(JSON.parse(body.toString()).model);
    json(response, { ok: true });
  });
  json(held[0]?.response as ServerResponse, { ok: true });
  expect((await Promise.all(others)).map(({ status }) => status)).toEqual([200, 200]);
  expect(order.slice(0, 4).filter((model) => model === 'single')).toHaveLength(2);
  const statuses = await Promise.all(refused);
  expect(statuses.filter((status) => status === 429)).toHaveLength(21);
  expect(statuses.filter((status) => status === 200)).toHaveLength(19);
});
