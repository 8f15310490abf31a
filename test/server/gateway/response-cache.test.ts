/** The response cache over real sockets: what it answers, what it never does, and what the ledger says of it. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { z } from 'zod';
import type { cacheSchema } from '../../../server/contract/answer-cache.ts';
import type { ConfigInput } from '../../../server/contract/config.ts';
import { begun } from '../../support/begun.ts';
import { eventually } from '../../support/eventually.ts';
import { hashOf, mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { eventStream, json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';
import { startControlGateway } from '../control/control-gateway.ts';

let upstream: ScriptedUpstream;
let sluice: TestGateway;
let answers = 0;

beforeEach(async () => {
  answers = 0;
  upstream = await startUpstream((_request, response) => json(response, completion()));
});
afterEach(async () => {
  await sluice.stop();
  await upstream.stop();
});

/** Each one is different, and costs a dollar. */
function completion() {
  const message = { role: 'assistant', content: `answer ${++answers}` };
  return {
    id: `c${answers}`,
    object: 'chat.completion',
    model: 'gpt-x',
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage: { prompt_tokens: 500, completion_tokens: 500, total_tokens: 1000 },
  };
}

type CacheInput = z.input<typeof cacheSchema>;

async function start(cache: CacheInput | null = {}, more: Partial<ConfigInput> = {}): Promise<void> {
  sluice = await startGateway({
    config: {
      providers: [mainProvider(upstream.baseUrl, { askUsage: false })],
      groups: [
        { id: 'default', cache },
        { id: 'other', cache },
      ],
      keys: [
        { id: 'k1', group: 'default', hash: hashOf(testKey) },
        { id: 'k2', group: 'default', hash: hashOf('second') },
        { id: 'k3', group: 'other', hash: hashOf('third') },
      ],
      settings: { prices: { 'gpt-x': { input: 1000, output: 1000 } } },
      ...more,
    },
  });
}

const question = { model: 'gpt-x', temperature: 0, messages: [{ role: 'user', content: 'Why?' }] };

function ask(body: object, headers: Record<string, string> = {}, path = '/chat/completions'): Promise<Response> {
  return sluice.fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}

async function told(response: Response | Promise<Response>): Promise<string | null> {
  const { headers, body } = await response;
  await body?.cancel();
  return headers.get('x-sluice-cache');
}

/** Sends the request twice, one after the other. */
async function twice(body: object, headers: Record<string, string> = {}, path?: string): Promise<(string | null)[]> {
  const tell = async () => {
    const response = await ask(body, headers, path);
    await response.text();
    return response.headers.get('x-sluice-cache');
  };
  return [await tell(), await tell()];
}

test('an equal request gets the same bytes from memory, for nothing, and the ledger tells what that saved', async () => {
  await start();
  const first = await ask(question);
  const firstText = await first.text();
  const second = await ask(question, { 'user-agent': 'another program' });
  expect(await second.text()).toBe(firstText);
  expect(upstream.seen).toHaveLength(1);
  expect([first, second].map(({ headers }) => headers.get('x-sluice-cache'))).toEqual(['miss', 'hit']);
  expect(second.headers.get('content-type')).toBe('application/json');
  expect(second.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
  const idOf = ({ headers }: Response) => headers.get('x-sluice-request-id') ?? '';
  expect(await sluice.record(idOf(first))).toMatchObject({ costUsd: 1, cached: { result: 'miss', savedUsd: null } });
  expect(await sluice.record(idOf(second))).toMatchObject({
    outcome: 'ok',
    status: 200,
    costUsd: 0,
    usage: null,
    attempts: [],
    cached: { result: 'hit', savedUsd: 1, savedUsage: { inputTokens: 500, outputTokens: 500 } },
  });
  const [view] = await sluice.gateway.query({ type: 'caches' });
  expect(view).toMatchObject({ groupId: 'default', entries: 1, hits: 1, misses: 1, savedUsd: 1 });
});

test('a stream is sent again byte for byte', async () => {
  upstream.answer((_request, response) => {
    eventStream(response);
    for (const text of ['Be', 'cause ✓']) {
      response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: text } }] })}\n\n`);
    }
    response.write('data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n');
    response.end('data: [DONE]\n\n');
  });
  await start();
  const stream = { ...question, stream: true };
  const first = await (await ask(stream)).text();
  const second = await ask(stream);
  expect(await second.text()).toBe(first);
  expect(first).toContain('cause ✓');
  expect(second.headers.get('content-type')).toContain('text/event-stream');
  expect(upstream.seen).toHaveLength(1);
});

test('a translated answer is sent again with what its translation lost', async () => {
  await start();
  const body = { model: 'gpt-x', max_tokens: 100, temperature: 0, top_k: 5, messages: question.messages };
  const ask = async () => {
    const response = await sluice.fetch('/messages', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' },
      body: JSON.stringify(body),
    });
    const { headers } = response;
    return {
      text: await response.text(),
      dropped: headers.get('x-sluice-dropped'),
      told: headers.get('x-sluice-cache'),
    };
  };
  const first = await ask();
  expect(first).toMatchObject({ dropped: expect.stringContaining('top_k'), told: 'miss' });
  expect(await ask()).toEqual({ ...first, told: 'hit' });
});

test('nothing is kept unless the group says so', async () => {
  await start(null);
  expect(await twice(question)).toEqual([null, null]);
  expect(upstream.seen).toHaveLength(2);
  expect(await sluice.record()).toMatchObject({ cached: null });
});

const web = { tools: [{ type: 'web_search' }] };
const own = { tools: [{ type: 'function', function: { name: 'look', parameters: {} } }] };
const hot = { ...question, temperature: 1 };

describe('of requests that may get another answer each time', () => {
  test.each([
    ['the temperature is not told', { ...question, temperature: undefined }],
    ['the temperature is above 0', hot],
    ['the provider runs a tool', { ...question, ...web }],
  ])('none is answered from memory: %s', async (_why, body) => {
    await start();
    expect(await twice(body)).toEqual([null, null]);
    expect(upstream.seen).toHaveLength(2);
  });

  test('those with tools of the client are answered', async () => {
    await start();
    expect(await twice({ ...question, ...own })).toEqual(['miss', 'hit']);
  });

  test('those are answered whose group or header asks for it', async () => {
    await start();
    expect(await twice(hot, { 'x-sluice-cache': 'use' })).toEqual(['miss', 'hit']);
    await sluice.stop();
    await start({ forced: true });
    expect(await twice(hot)).toEqual(['miss', 'hit']);
  });
});

test('a response that the provider stores is never answered from memory, an unstored one is', async () => {
  upstream.answer((_request, response) =>
    json(response, { id: `resp_${++answers}`, object: 'response', status: 'completed', model: 'gpt-x', output: [] }),
  );
  await start({ forced: true });
  const body = { model: 'gpt-x', input: 'Why?' };
  expect(await twice(body, {}, '/responses')).toEqual([null, null]);
  expect(await twice({ ...body, store: false }, {}, '/responses')).toEqual(['miss', 'hit']);
  expect(await twice({ ...body, store: false, background: true }, {}, '/responses')).toEqual([null, null]);
});

test('embeddings are answered from memory without a temperature', async () => {
  upstream.answer((_request, response) =>
    json(response, { object: 'list', model: 'gpt-x', data: [{ object: 'embedding', index: 0, embedding: [0.5] }] }),
  );
  await start();
  expect(await twice({ model: 'gpt-x', input: 'Why?' }, {}, '/embeddings')).toEqual(['miss', 'hit']);
});

test('a client that wants no cache gets none, and one that wants a new answer replaces the old one', async () => {
  await start();
  for (const headers of [{ 'cache-control': 'no-store' }, { 'x-sluice-cache': 'skip' }]) {
    expect(await twice(question, headers)).toEqual([null, null]);
  }
  expect(await told(ask(question))).toBe('miss');
  const fresh = await ask(question, { 'cache-control': 'no-cache' });
  expect(fresh.headers.get('x-sluice-cache')).toBe('miss');
  expect(await (await ask(question)).text()).toBe(await fresh.text());
});

test.each([
  ['the body', { ...question, seed: 1 }, {}],
  ['a header that changes the answer', question, { 'openai-beta': 'new-answers' }],
])('%s makes another request', async (_what, body, headers) => {
  await start();
  await told(ask(question));
  expect(await told(ask(body, headers))).toBe('miss');
});

test('the keys of a group share its answers, and no other group gets them', async () => {
  await start();
  await (await ask(question)).text();
  expect(await told(ask(question, { authorization: 'Bearer second' }))).toBe('hit');
  expect(await told(ask(question, { authorization: 'Bearer third' }))).toBe('miss');
});

test('an error is not kept', async () => {
  await start();
  upstream.answer((_request, response) => json(response, { error: { message: 'no' } }, 400));
  expect(await twice(question)).toEqual(['miss', 'miss']);
  expect(upstream.seen).toHaveLength(2);
});

test('a stream that broke off is not kept', async () => {
  await start({}, { groups: [{ id: 'default', cache: {}, policy: { retries: 0 } }], keys: [keyOne] });
  upstream.answer((_request, response) => {
    eventStream(response);
    response.write('data: {"choices":[{"index":0,"delta":{"content":"Be"}}]}\n\n', () => response.destroy());
  });
  const stream = { ...question, stream: true };
  await (await ask(stream)).text().catch(() => '');
  upstream.answer((_request, response) => json(response, completion()));
  const second = await ask(stream);
  expect(second.headers.get('x-sluice-cache')).toBe('miss');
  await second.text();
});

const keyOne = { id: 'k1', group: 'default', hash: hashOf(testKey) };

test('requests that are answered from memory count towards the limits', async () => {
  const groups = [{ id: 'default', cache: {}, limits: { requestsPerMinute: 2 } }];
  await start({}, { groups, keys: [keyOne] });
  expect(await twice(question)).toEqual(['miss', 'hit']);
  expect((await ask(question)).status).toBe(429);
});

test('answers are removed on command, and when the cache is turned off', async () => {
  sluice = await startControlGateway({
    config: {
      providers: [mainProvider(upstream.baseUrl, { askUsage: false })],
      groups: [{ id: 'default', cache: {} }],
      keys: [keyOne],
    },
    secrets: { 'provider/main/c1': 'upstream-secret' },
  });
  await (await ask(question)).text();
  expect(await sluice.gateway.execute({ type: 'cache.clear', group: 'default' })).toMatchObject({ entries: 1 });
  expect(await twice(question)).toEqual(['miss', 'hit']);
  for (const cache of [null, {}]) await sluice.gateway.execute({ type: 'group.put', group: { id: 'default', cache } });
  expect(await twice(question)).toEqual(['miss', 'hit']);
  await expect(sluice.gateway.execute({ type: 'cache.clear', group: 'none' })).rejects.toMatchObject({
    code: 'not_found',
  });
});

describe('equal requests at the same time', () => {
  /** What the provider does with each request, when it is let go. */
  let go: (() => void)[] = [];

  async function startHeld(): Promise<void> {
    go = [];
    upstream.answer((_request, response) => {
      go.push(() => json(response, completion()));
    });
    await start({ coalesce: true }, { keys: [keyOne, { ...keyOne, id: 'k2', hash: hashOf('second') }] });
  }

  const running = () => sluice.gateway.query({ type: 'requests', filter: { outcome: 'running' } });
  const untilRunning = (count: number) =>
    eventually(async () => ((await running()).requests.length === count ? true : null));

  test('share one call to the provider where the group wants it', async () => {
    await startHeld();
    const asked = [1, 2, 3].map(() => begun(ask(question)));
    await untilRunning(3);
    go[0]?.();
    const texts = await Promise.all(asked.map(async (each) => (await each).text()));
    expect(new Set(texts).size).toBe(1);
    expect(upstream.seen).toHaveLength(1);
    const [view] = await sluice.gateway.query({ type: 'caches' });
    expect(view).toMatchObject({ misses: 1, shared: 2, hits: 0 });
  });

  test('go to the provider themselves if the first one fails', async () => {
    await startHeld();
    const leader = new AbortController();
    const first = begun(leave(leader.signal));
    await eventually(async () => (upstream.seen.length === 1 ? true : null));
    const second = begun(ask(question));
    await untilRunning(2);
    leader.abort();
    await expect(first).rejects.toThrow();
    await eventually(async () => (go.length === 2 ? true : null));
    go[1]?.();
    expect((await second).headers.get('x-sluice-cache')).toBe('miss');
    expect(await (await second).text()).toContain('answer 1');
  });

  test('are not affected by one that leaves', async () => {
    await startHeld();
    const first = begun(ask(question));
    await eventually(async () => (upstream.seen.length === 1 ? true : null));
    const follower = new AbortController();
    const second = begun(leave(follower.signal));
    await untilRunning(2);
    follower.abort();
    await expect(second).rejects.toThrow();
    await untilRunning(1);
    go[0]?.();
    expect((await first).status).toBe(200);
    await (await first).text();
    const { requests } = await sluice.gateway.query({ type: 'requests', filter: { outcome: 'client-gone' } });
    expect(requests).toHaveLength(1);
    expect(upstream.seen).toHaveLength(1);
  });

  function leave(signal: AbortSignal): Promise<Response> {
    const init = { method: 'POST', body: JSON.stringify(question), signal };
    return sluice.fetch('/chat/completions', { ...init, headers: { 'content-type': 'application/json' } });
  }
});
