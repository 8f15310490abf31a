/** The response cache over real sockets: what it answers, what it must not answer, and the ledger's records. */
import { beforeEach, describe, expect, test } from 'vitest';
import { sessionHeaders } from '../../../server/apis/core/requests/client-session.ts';
import type { ConfigInput } from '../../../server/contract/config.ts';
import { mainProvider, type TestGateway } from '../../support/gateway.ts';
import { stopAfterEach } from '../../support/stop-after-each.ts';
import { eventStream, json, type ScriptedUpstream } from '../../support/upstream.ts';
import { startControlGateway } from '../control/control-gateway.ts';
import { askOf, completion, keyOne, question, startCached, startCompletions } from './two-upstreams.ts';

const stopLater = stopAfterEach();
let upstream: ScriptedUpstream;
let sluice: TestGateway;

beforeEach(async () => {
  upstream = await stopLater(startCompletions());
});

async function start(cache?: Parameters<typeof startCached>[1], more?: Partial<ConfigInput>): Promise<void> {
  sluice = await stopLater(startCached(upstream, cache, more));
}

const ask = (body: object, headers?: Record<string, string>, path?: string) => askOf(sluice, body, headers, path);

async function told(response: Response | Promise<Response>): Promise<string | null> {
  const { headers, body } = await response;
  await body?.cancel();
  return headers.get('x-sluice-cache');
}

/** Sends the request twice in succession. */
async function twice(body: object, headers: Record<string, string> = {}, path?: string): Promise<(string | null)[]> {
  const tell = async () => {
    const response = await ask(body, headers, path);
    await response.text();
    return response.headers.get('x-sluice-cache');
  };
  return [await tell(), await tell()];
}

test('an equal request gets the same bytes from memory at no cost, and the ledger records the savings', async () => {
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

test('an answer from memory counts with the model that gave it, whatever the client calls it', async () => {
  await start({}, { aliases: [{ name: 'fast', targets: [{ provider: 'main', model: 'gpt-x' }] }] });
  const asked = { ...question, model: 'fast' };
  expect(await twice(asked)).toEqual(['miss', 'hit']);
  await sluice.record();
  expect(await sluice.gateway.query({ type: 'usage', by: 'model' })).toMatchObject([{ name: 'gpt-x', requests: 2 }]);
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

  test('those with tools that the client runs are answered from memory', async () => {
    await start();
    expect(await twice({ ...question, ...own })).toEqual(['miss', 'hit']);
  });

  test('those whose group or header asks for it are answered from memory', async () => {
    await start();
    expect(await twice(hot, { 'x-sluice-cache': 'use' })).toEqual(['miss', 'hit']);
    await sluice.stop();
    await start({ forced: true });
    expect(await twice(hot)).toEqual(['miss', 'hit']);
  });
});

test('a response that the provider stores is never answered from memory, an unstored one is', async () => {
  upstream.answer((_request, response) =>
    json(response, { id: 'resp_1', object: 'response', status: 'completed', model: 'gpt-x', output: [] }),
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
])('a request with %s is not an equal request', async (_what, body, headers) => {
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

test('requests that are answered from memory count towards the limits', async () => {
  const groups = [{ id: 'default', cache: {}, limits: { requestsPerMinute: 2 } }];
  await start({}, { groups, keys: [keyOne] });
  expect(await twice(question)).toEqual(['miss', 'hit']);
  expect((await ask(question)).status).toBe(429);
});

test('answers are removed on command, and when the cache is turned off', async () => {
  sluice = await stopLater(
    startControlGateway({
      config: {
        providers: [mainProvider(upstream.baseUrl, { askUsage: false })],
        groups: [{ id: 'default', cache: {} }],
        keys: [keyOne],
      },
      secrets: { 'provider/main/c1': 'upstream-secret' },
    }),
  );
  await (await ask(question)).text();
  expect(await sluice.gateway.execute({ type: 'cache.clear', group: 'default' })).toMatchObject({ entries: 1 });
  expect(await twice(question)).toEqual(['miss', 'hit']);
  for (const cache of [null, {}]) await sluice.gateway.execute({ type: 'group.put', group: { id: 'default', cache } });
  expect(await twice(question)).toEqual(['miss', 'hit']);
  await expect(sluice.gateway.execute({ type: 'cache.clear', group: 'none' })).rejects.toMatchObject({
    code: 'not_found',
  });
});

test('a session that a header names does not tell equal requests apart', async () => {
  await start();
  await (await ask(question)).text();
  // Those of Codex 0.169, opencode 1.18 and Claude Code 2.1 among them.
  expect(sessionHeaders).toEqual(
    expect.arrayContaining(['session-id', 'thread-id', 'x-session-affinity', 'x-claude-code-agent-id']),
  );
  for (const name of sessionHeaders) expect(await told(ask(question, { [name]: `a ${name}` })), name).toBe('hit');
});

test('tools of an MCP server, which the client runs, keep no request from the cache', async () => {
  await start();
  const tools = [{ type: 'namespace', name: 'mcp', tools: [{ type: 'function', name: 'f', parameters: {} }] }];
  expect(await twice({ ...question, tools })).toEqual(['miss', 'hit']);
  expect(await twice({ ...question, tools: [...tools, { type: 'web_search' }] })).toEqual([null, null]);
});
