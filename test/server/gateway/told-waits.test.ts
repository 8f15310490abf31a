/** Waits that help: for an upstream that told when to come again, and for one that is in trouble for a moment. */
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { stretched } from '../../support/cpu-work.ts';
import { testKey } from '../../support/gateway.ts';
import { json, type ScriptedUpstream, type SeenRequest, startUpstream } from '../../support/upstream.ts';
import { type ControlGateway, startControlGateway } from '../control/control-gateway.ts';

type Script = (request: SeenRequest, response: ServerResponse) => void;

const limited =
  (headers: Record<string, string>): Script =>
  (_, response) =>
    json(response, { error: { message: 'Slow down', type: 'requests', code: 'rate_limit_exceeded' } }, 429, headers);
const answer: Script = (_, response) =>
  json(response, {
    id: 'c',
    object: 'chat.completion',
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
  });

let one: ScriptedUpstream;
let two: ScriptedUpstream;
let sluice: ControlGateway;
let aheadMs = 0;

beforeEach(async () => {
  aheadMs = 0;
  const now = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => now() + aheadMs);
  one = await startUpstream(answer);
  two = await startUpstream(answer);
});
afterEach(async () => {
  vi.restoreAllMocks();
  await sluice.stop();
  await Promise.all([one.stop(), two.stop()]);
});

async function start(ids: readonly ('one' | 'two')[], policy: object = {}): Promise<void> {
  const providers = ids.map((id) => ({
    ...{ id, baseUrl: (id === 'one' ? one : two).baseUrl, models: ['m', 'other'], credentials: [{ id: 'c1' }] },
  }));
  sluice = await startControlGateway({
    config: { providers, groups: [{ id: 'default', policy }] },
    secrets: { 'provider/one/c1': 's1', 'provider/two/c1': 's2' },
  });
}

const message = { role: 'user', content: 'hi' } as const;
const bodies: Record<string, [path: string, body: object]> = {
  chat: ['/v1/chat/completions', { model: 'm', messages: [message] }],
  'chat (stream)': ['/v1/chat/completions', { model: 'm', messages: [message], stream: true }],
  responses: ['/v1/responses', { model: 'm', input: 'hi' }],
  'responses (stream)': ['/v1/responses', { model: 'm', input: 'hi', stream: true }],
  messages: ['/v1/messages', { model: 'm', max_tokens: 9, messages: [message] }],
  'messages (stream)': ['/v1/messages', { model: 'm', max_tokens: 9, messages: [message], stream: true }],
  generateContent: ['/v1beta/models/m:generateContent', { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] }],
  streamGenerateContent: [
    '/v1beta/models/m:streamGenerateContent?alt=sse',
    { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] },
  ],
  embeddings: ['/v1/embeddings', { model: 'm', input: 'hi' }],
  images: ['/v1/images/generations', { model: 'm', prompt: 'a cat' }],
};

function send(name = 'chat', more: object = {}): Promise<Response> {
  const [path, body] = bodies[name] ?? ['', {}];
  return fetch(sluice.origin + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, ...more }),
  });
}

const statusOf = async (response: Promise<Response>) => {
  const { status, body } = await response;
  await body?.cancel();
  return status;
};

describe('a single provider that told to come again in 30 s', () => {
  test.each(Object.keys(bodies))('is not asked by anybody until then: %s', async (name) => {
    one.answer(limited({ 'retry-after': '30' }));
    await start(['one']);
    expect(await statusOf(send(name))).toBe(429);
    expect(one.seen).toHaveLength(1);
    aheadMs += 10_000;
    const [first, ...others] = await Promise.all(Array.from({ length: 20 }, () => send(name)));
    expect(others.map(({ status }) => status)).toEqual(Array.from({ length: 19 }, () => 429));
    expect(first?.status).toBe(429);
    expect(Number(first?.headers.get('retry-after'))).toBeGreaterThan(15);
    expect(Number(first?.headers.get('retry-after'))).toBeLessThanOrEqual(20);
    expect(await first?.text()).toContain('It was not asked; nothing was lost or billed.');
    expect(one.seen).toHaveLength(1);
    one.answer(answer);
    aheadMs += 20_001;
    await send(name).then((response) => response.text());
    expect(one.seen).toHaveLength(2);
  });

  test('is asked for another model, with another credential, and once its health is reset', async () => {
    one.answer(limited({ 'retry-after': '30' }));
    await start(['one']);
    await statusOf(send());
    one.answer(answer);
    expect(await statusOf(send('chat', { model: 'other' }))).toBe(200);
    expect(await statusOf(send())).toBe(429);
    await sluice.gateway.execute({ type: 'provider.reset-health', id: 'one' });
    expect(await statusOf(send())).toBe(200);
  });

  test('for an hour is asked by one request in five minutes, since its limit may have been raised', async () => {
    one.answer(limited({ 'retry-after': '3600' }));
    await start(['one']);
    for (let minute = 0; minute <= 12; minute++) {
      await statusOf(send());
      aheadMs += 60_000;
    }
    expect(one.seen).toHaveLength(3);
    one.answer(answer);
    aheadMs += 5 * 60_000;
    expect(await statusOf(send())).toBe(200);
  });

  test('does not keep others from answering, and is no last resort when they fail', async () => {
    one.answer(limited({ 'retry-after': '30' }));
    await start(['one', 'two'], { retries: 0 });
    expect(await statusOf(send())).toBe(200);
    two.answer((_, response) => json(response, { error: { message: 'no' } }, 500));
    expect(await statusOf(send())).toBe(500);
    expect(one.seen).toHaveLength(1);
  });
});

test('a provider that told to come again in a second is waited for, also by those who come meanwhile', async () => {
  one.answer(limited({ 'retry-after': '1' }));
  await start(['one']);
  const early = send();
  await vi.waitFor(() => expect(one.seen).toHaveLength(1));
  one.answer(answer);
  const toldMs = Date.now();
  const late = await Promise.all([send(), send(), send()]);
  expect([(await early).status, ...late.map(({ status }) => status)]).toEqual([200, 200, 200, 200]);
  expect(Date.now() - toldMs).toBeGreaterThan(900);
  expect(one.seen).toHaveLength(5);
});

test.each([
  ['Retry-After twice, joined by a proxy', { 'retry-after': '2, 40' }],
  [
    'the reset of requests that are used up',
    { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '40s' },
  ],
  [
    'the reset of tokens that are used up',
    { 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '0m40s' },
  ],
  ['IETF’s reset', { 'ratelimit-remaining': '0', 'ratelimit-reset': '40' }],
  [
    'Anthropic’s reset',
    {
      'anthropic-ratelimit-input-tokens-remaining': '0',
      'anthropic-ratelimit-input-tokens-reset': new Date(Date.now() + 3_000_000).toISOString(),
    },
  ],
])('a wait is told by %s', async (_, headers) => {
  one.answer(limited(headers));
  await start(['one']);
  const told = await send();
  expect([told.status, Number(told.headers.get('retry-after')) > 2 || 'retry-after' in headers]).toEqual([429, true]);
  for (let count = 0; count < 5; count++) expect(await statusOf(send())).toBe(429);
  expect(one.seen).toHaveLength(1);
});

test('a limit of which something remains is no reason to wait for its reset', async () => {
  one.answer(limited({ 'x-ratelimit-remaining-tokens': '900', 'x-ratelimit-reset-tokens': '6m0s' }));
  await start(['one'], { retries: 0 });
  for (let count = 0; count < 3; count++) expect(await statusOf(send())).toBe(429);
  expect(one.seen).toHaveLength(3);
});

describe('providers that are down for a moment and up again', () => {
  const down: Script = (_, response) => void response.destroy();

  test.each([
    { many: 'one of them', ids: ['one'] as const },
    { many: 'both of them', ids: ['one', 'two'] as const },
  ])(
    'answer most requests, not only those that come while they are up: $many',
    async ({ ids }) => {
      await start(ids);
      // By the clock, so that a busy machine does not make the outages longer.
      const begunMs = performance.now();
      const passedMs = () => performance.now() - begunMs;
      const isDown = () => passedMs() < 4_000 && Math.floor(passedMs() / 800) % 2 === 1;
      for (const upstream of [one, two])
        upstream.answer((request, response) => (isDown() ? down : answer)(request, response));
      const requests: Promise<number>[] = [];
      while (passedMs() < 4_000) {
        requests.push(statusOf(send()), statusOf(send()));
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      const statuses = await Promise.all(requests);
      // Half of them came while nobody answered. Those that begin an outage use up their retries within it.
      expect(statuses.filter((status) => status !== 200).length).toBeLessThanOrEqual(statuses.length / 4);
    },
    30_000,
  );

  test('are told at once while they are down for longer', async () => {
    await start(['one']);
    one.answer(down);
    for (let count = 0; count < 4; count++) await statusOf(send());
    aheadMs += 5_000;
    await statusOf(send());
    const begunMs = Date.now();
    for (let count = 0; count < 5; count++) expect(await statusOf(send())).toBe(502);
    expect(Date.now() - begunMs).toBeLessThan(stretched(1_500));
  });
});

test('a provider that cannot list its models at the start is waited for by the SDKs, and used within seconds', async () => {
  let isUp = false;
  one.answer((request, response) => {
    if (!isUp) response.destroy();
    else if (request.url.endsWith('/models')) json(response, { object: 'list', data: [{ id: 'm' }] });
    else answer(request, response);
  });
  sluice = await startControlGateway({
    config: { providers: [{ id: 'one', baseUrl: one.baseUrl, models: 'discover', credentials: [{ id: 'c1' }] }] },
    secrets: { 'provider/one/c1': 's1' },
  });
  const refused = await vi.waitFor(async () => {
    const response = await send();
    expect(response.status).toBe(503);
    return response;
  });
  expect(await refused.json()).toMatchObject({ error: { code: 'models_unknown' } });
  expect([refused.headers.get('retry-after'), refused.headers.get('x-should-retry')]).not.toContain('false');
  isUp = true;
  const client = sluice.client.withOptions({ maxRetries: 4 });
  const completion = await client.chat.completions.create({ model: 'm', messages: [message] });
  expect(completion.choices[0]?.message.content).toBe('hello');
}, 30_000);
