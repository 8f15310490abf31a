/** Anthropic's SDK with a provider of Anthropic's API: bytes pass unchanged. */
import type Anthropic from '@anthropic-ai/sdk';
import { toFile } from '@anthropic-ai/sdk';
import { beforeEach, describe, expect, test } from 'vitest';
import type { ConfigInput } from '../../../server/contract/config.ts';
import { mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { claudeAt } from '../../support/sdk-clients.ts';
import { stopAfterEach } from '../../support/stop-after-each.ts';
import {
  anthropicKey,
  bodyOf,
  message,
  send,
  sendError,
  signatureOf,
  streamOf,
  strictAnthropic,
  text,
  thought,
  toolUse,
} from '../../support/strict-anthropic.ts';
import {
  eventStream,
  json,
  oddCuts,
  type ScriptedUpstream,
  sendPieces,
  startUpstream,
} from '../../support/upstream.ts';

const stopLater = stopAfterEach();
let upstream: ScriptedUpstream;
let gateway: TestGateway;
let client: Anthropic;

beforeEach(async () => {
  upstream = await stopLater(startUpstream());
});

async function start(config: Partial<ConfigInput> = {}, secrets: Record<string, string> = {}): Promise<void> {
  const provider = mainProvider(upstream.origin, { dialect: 'anthropic' });
  gateway = await stopLater(
    startGateway({
      config: { providers: [provider], ...config },
      secrets: { 'provider/main/c1': anthropicKey, ...secrets },
    }),
  );
  client = claudeAt(gateway);
}

const model = 'claude-opus-5-5';
const hello = { model, max_tokens: 100, messages: [{ role: 'user' as const, content: 'Hi' }] };
const blocks = [thought('Grüße…'), text('Hello'), toolUse('toolu_1', 'weather', { place: 'Köln' })];

/** As Claude Code sends it, with its own order of members and its own whitespace. */
const written = `{ "model" : "${model}","max_tokens":100, "messages":[{"role":"user","content":"Hi"}],
  "system":[{"type":"text","text":"x-anthropic-billing-header: cc_version=2.1.0; cch=1;"}],"metadata":{"user_id":"{\\"session_id\\":\\"s\\"}"}`;

function post(body: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${gateway.origin}/v1/messages?beta=true`, {
    method: 'POST',
    headers: {
      'x-api-key': testKey,
      'content-type': 'application/json',
      'anthropic-version': '2023-06-01',
      ...headers,
    },
    body,
  });
}

describe('bytes', () => {
  test('of a request and a whole answer pass as they are', async () => {
    await start();
    const answer = ` {"id":"msg_1",  "type":"message","content":[{"type":"text","text":"Gr\\u00fc\\u00dfe"}],"usage":{"input_tokens":1.0,"output_tokens":2}}\n`;
    upstream.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'request-id': 'req_upstream' }).end(answer);
    });
    const response = await post(`${written}}`);
    expect(await response.text()).toBe(answer);
    expect(upstream.seen[0]?.body.toString()).toBe(`${written}}`);
    expect(upstream.seen[0]?.url).toBe('/v1/messages?beta=true');
  });

  test('of a stream pass as they are, wherever it is cut', async () => {
    await start();
    const told = Buffer.from(streamOf(blocks, 'tool_use'));
    upstream.answer((_request, response) => {
      eventStream(response);
      return sendPieces(response, told, oddCuts(told.length));
    });
    const response = await post(`${written},"stream":true}`);
    expect(Buffer.from(await response.arrayBuffer()).equals(told)).toBe(true);
  });

  test('of a request through an alias change only in the model name', async () => {
    await start({ aliases: [{ name: 'best', targets: [{ provider: 'main', model }] }] });
    upstream.answer(strictAnthropic((body, response) => send(response, body, [text('Hello')])));
    await post(`${written}}`.replace(model, 'best'));
    expect(upstream.seen[0]?.body.toString()).toBe(`${written}}`);
  });
});

describe('headers', () => {
  test('of the client reach the provider, except its key', async () => {
    await start();
    upstream.answer(strictAnthropic((body, response) => send(response, body, [text('Hello')])));
    const own = {
      'anthropic-version': '2026-10-21',
      'anthropic-beta': 'context-1m-2025-08-07, oauth-2025-04-20',
      'x-claude-code-session-id': 's1',
      'x-app': 'cli',
      authorization: `Bearer ${testKey}`,
    };
    await post(`${written}}`, own);
    const { authorization, ...others } = own;
    expect(upstream.seen[0]?.headers).toMatchObject({ ...others, 'x-api-key': anthropicKey });
    expect(upstream.seen[0]?.headers).not.toHaveProperty('authorization');
    expect(JSON.stringify(upstream.seen[0]?.headers)).not.toContain(testKey);
  });

  test('of a client without a version get the usual one', async () => {
    await start();
    upstream.answer(strictAnthropic((body, response) => send(response, body, [text('Hello')])));
    const headers = { 'x-api-key': testKey, 'content-type': 'application/json' };
    await fetch(`${gateway.origin}/v1/messages`, { method: 'POST', headers, body: `${written}}` });
    expect(upstream.seen[0]?.headers['anthropic-version']).toBe('2023-06-01');
  });

  test('of the answer reach the client: the request id and the account’s rate limits', async () => {
    await start();
    const told = {
      'request-id': 'req_upstream',
      'anthropic-ratelimit-requests-remaining': '7',
      'anthropic-ratelimit-unified-5h-utilization': '0.5',
      'retry-after': '3',
    };
    upstream.answer((_request, response) => json(response, message([text('Hello')]), 200, told));
    const response = await post(`${written}}`);
    expect(Object.fromEntries(response.headers)).toMatchObject(told);
    const record = await gateway.record(response.headers.get('x-sluice-request-id') ?? '');
    expect(record.attempts[0]?.upstreamRequestId).toBe('req_upstream');
  });
});

test('the SDK’s helper makes a message of a stream, and the ledger has its usage with the caches', async () => {
  await start();
  upstream.answer(strictAnthropic((body, response) => send(response, body, blocks, 'tool_use')));
  const { data: stream, response } = await client.messages.create({ ...hello, stream: true }).withResponse();
  const kinds: string[] = [];
  for await (const event of stream) if (event.type === 'content_block_start') kinds.push(event.content_block.type);
  expect(kinds).toEqual(['thinking', 'text', 'tool_use']);
  const whole = await client.messages.stream(hello).finalMessage();
  expect(whole).toMatchObject({ content: blocks, stop_reason: 'tool_use' });
  const record = await gateway.record(response.headers.get('x-sluice-request-id') ?? '');
  expect(record).toMatchObject({
    stream: true,
    outcome: 'ok',
    usage: { inputTokens: 23, outputTokens: 9, cachedInputTokens: 11, cacheWriteTokens: 7 },
    usageCertainty: 'reported',
  });
  expect(record.costUsd).toBeGreaterThan(0);
});

test('thinking goes back unchanged over a loop of tools', async () => {
  await start();
  const turns = [[thought('I look.'), toolUse('toolu_1', 'weather', {})], [text('Wet.')]];
  upstream.answer(
    strictAnthropic((body, response) => {
      const isFirst = (body.messages as unknown[]).length === 1;
      send(response, body, turns[isFirst ? 0 : 1] ?? [], isFirst ? 'tool_use' : 'end_turn');
    }),
  );
  const tools = [{ name: 'weather', input_schema: { type: 'object' as const } }];
  const first = await client.messages.create({ ...hello, tools });
  const results = [{ type: 'tool_result' as const, tool_use_id: 'toolu_1', content: 'rain' }];
  const last = await client.messages.create({
    ...hello,
    tools,
    messages: [...hello.messages, { role: 'assistant', content: first.content }, { role: 'user', content: results }],
  });
  expect(last.content).toEqual([text('Wet.')]);
  expect(JSON.stringify(upstream.seen[1] && bodyOf(upstream.seen[1]))).toContain(signatureOf('I look.'));
});

describe('an error', () => {
  test.each([
    [400, 'invalid_request_error', 'tool_choice: type "tool" and "any" are not supported for this model.'],
    [400, 'invalid_request_error', 'prompt is too long: 9001 tokens > 8192 maximum'],
    [429, 'rate_limit_error', 'Slow down'],
    [529, 'overloaded_error', 'Overloaded'],
  ])('of status %i reaches the client unchanged: %s', async (status, type, said) => {
    await start({ groups: [{ id: 'default', policy: { retries: 0 } }] });
    upstream.answer((_request, response) => sendError(response, status, type, said));
    const response = await post(`${written}}`);
    expect(response.status).toBe(status);
    expect(await response.json()).toEqual({
      type: 'error',
      error: { type, message: said },
      request_id: 'req_upstream',
    });
    expect(response.headers.get('request-id')).toBe('req_upstream');
  });

  test('about the credential is not reported as one about the client’s key', async () => {
    await start({}, { 'provider/main/c1': 'wrong' });
    upstream.answer(strictAnthropic(() => {}));
    const response = await post(`${written}}`);
    expect(response.status).toBe(502);
    expect(await response.json()).toMatchObject({ type: 'error', error: { type: 'api_error' } });
    expect((await gateway.record(response.headers.get('x-sluice-request-id') ?? '')).attempts[0]?.failure).toBe(
      'credential',
    );
  });

  test('within a stream passes unchanged and is recorded', async () => {
    await start();
    const told = `${streamOf(blocks).split('event: message_delta')[0]}event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n`;
    upstream.answer((_request, response) => {
      eventStream(response);
      response.end(told);
    });
    const response = await post(`${written},"stream":true}`);
    expect(await response.text()).toBe(told);
    const record = await gateway.record(response.headers.get('x-sluice-request-id') ?? '');
    expect(record).toMatchObject({ outcome: 'error', errorCode: 'overloaded_error' });
  });

  test('ends a stream that breaks off', async () => {
    await start({ groups: [{ id: 'default', policy: { retries: 0 } }] });
    const [beginning = ''] = streamOf(blocks).split('event: message_delta');
    upstream.answer((_request, response) => {
      eventStream(response);
      response.write(beginning, () => response.destroy());
    });
    const response = await post(`${written},"stream":true}`);
    const told = await response.text();
    expect(told.startsWith(beginning)).toBe(true);
    expect(told.slice(beginning.length)).toMatch(/^event: error\ndata: \{"type":"error","error":\{"type":"api_error"/);
  });
});

test('an overloaded account is asked again, and its answer comes through', async () => {
  await start();
  upstream.answer((_request, response) => {
    if (upstream.seen.length === 1) sendError(response, 529, 'overloaded_error', 'Overloaded');
    else json(response, message([text('Hello')]));
  });
  expect((await client.messages.create(hello)).content).toEqual([text('Hello')]);
});

describe('tokens', () => {
  const count = () => client.messages.countTokens({ model, messages: hello.messages }).withResponse();

  test('are counted by the provider', async () => {
    await start();
    upstream.answer(strictAnthropic(() => {}));
    const { data, response } = await count();
    expect(data.input_tokens).toBe(1234);
    expect(response.headers.has('x-sluice-estimated')).toBe(false);
    expect(upstream.seen[0]?.url).toBe('/v1/messages/count_tokens');
    const record = await gateway.record(response.headers.get('x-sluice-request-id') ?? '');
    expect(record).toMatchObject({ route: '/v1/messages/count_tokens', outcome: 'ok', usage: null, costUsd: 0 });
  });

  test.each([
    ['does not know the path', 404, 'not_found_error', 'Not found'],
    ['refuses the method', 405, 'api_error', 'Method not allowed'],
    ['is overloaded', 529, 'overloaded_error', 'Overloaded'],
  ])('are estimated where the provider %s', async (_why, status, type, said) => {
    await start({ groups: [{ id: 'default', policy: { retries: 0 } }] });
    upstream.answer((_request, response) => sendError(response, status, type, said));
    const { data, response } = await count();
    expect(data.input_tokens).toBeGreaterThan(0);
    expect(response.headers.get('x-sluice-estimated')).toBe('input_tokens');
    upstream.answer(strictAnthropic((body, answer) => send(answer, body, [text('Hello')])));
    expect((await client.messages.create(hello)).content).toEqual([text('Hello')]);
  });

  test.each([
    [404, 'not_found_error', 'model: claude-opus-9'],
    [400, 'invalid_request_error', 'messages: Field required'],
  ])('are not counted for an invalid request, which gets status %i', async (status, type, said) => {
    await start();
    upstream.answer((_request, response) => sendError(response, status, type, said));
    await expect(count()).rejects.toMatchObject({ status, error: { error: { type, message: said } } });
  });

  test('are not counted for a credential that is refused', async () => {
    await start({}, { 'provider/main/c1': 'wrong' });
    upstream.answer(strictAnthropic(() => {}));
    await expect(count()).rejects.toMatchObject({ status: 502 });
  });

  test('are counted by the provider that can, of several', async () => {
    const chat = { ...mainProvider(upstream.origin), id: 'chat', credentials: [] };
    const native = mainProvider(upstream.origin, { dialect: 'anthropic' });
    const targets = [chat, native].map(({ id }) => ({ provider: id, model }));
    await start({ providers: [chat, native], aliases: [{ name: 'best', targets }] });
    upstream.answer(strictAnthropic(() => {}));
    const { input_tokens } = await client.messages.countTokens({ model: 'best', messages: hello.messages });
    expect(input_tokens).toBe(1234);
  });
});

describe('what Sluice does not serve itself', () => {
  const requests = [{ custom_id: 'a', params: hello }];

  test('goes to the provider as it is: batches and files', async () => {
    await start();
    const asked: string[] = [];
    upstream.answer(({ method, url, body, headers }, response) => {
      asked.push(`${method} ${url}`);
      expect(headers['x-api-key']).toBe(anthropicKey);
      if (url.startsWith('/v1/files') && method === 'POST') expect(body.toString()).toContain('{"a":1}');
      json(response, url.includes('batches') ? { id: 'msgbatch_1', type: 'message_batch' } : { id: 'file_1' });
    });
    const batch = await client.messages.batches.create({ requests });
    await client.messages.batches.retrieve(batch.id);
    await client.messages.batches.cancel(batch.id);
    const file = await client.beta.files.upload({ file: await toFile(Buffer.from('{"a":1}'), 'a.json') });
    await client.beta.files.download(file.id);
    await client.beta.files.delete(file.id);
    expect(asked.map((line) => line.replace('?beta=true', ''))).toEqual([
      'POST /v1/messages/batches',
      'GET /v1/messages/batches/msgbatch_1',
      'POST /v1/messages/batches/msgbatch_1/cancel',
      'POST /v1/files',
      'GET /v1/files/file_1/content',
      'DELETE /v1/files/file_1',
    ]);
  });

  test('goes to no provider that has another API', async () => {
    await start({ providers: [mainProvider(upstream.origin)] });
    await expect(client.messages.batches.create({ requests })).rejects.toMatchObject({
      status: 404,
      message: expect.stringMatching(/speaks another API/),
    });
    expect(upstream.seen).toEqual([]);
  });

  test('of OpenAI’s API does not go to it', async () => {
    await start();
    expect((await gateway.fetch('/files')).status).toBe(404);
    expect(upstream.seen).toEqual([]);
  });
});

test('a request that Anthropic’s API does not support is refused before the provider is called', async () => {
  await start();
  await expect(gateway.client.embeddings.create({ model, input: 'x' })).rejects.toMatchObject({
    status: 404,
    message: expect.stringMatching(
      /Provider "main" cannot serve \/v1\/embeddings: its API \(anthropic\) has no equivalent/,
    ),
  });
  expect(upstream.seen).toEqual([]);
});

test('a session of Claude Code stays with one of several accounts', async () => {
  const credentials = Array.from({ length: 8 }, (_, index) => ({ id: `c${index}` }));
  await start(
    {
      providers: [mainProvider(upstream.origin, { dialect: 'anthropic', credentials })],
      groups: [{ id: 'default', policy: { strategy: 'sticky' } }],
    },
    Object.fromEntries(credentials.map(({ id }) => [`provider/main/${id}`, `sk-ant-${id}`])),
  );
  upstream.answer(strictAnthropic((body, response) => send(response, body, [text('Hello')])));
  const ask = (session: string, content: string) =>
    client.messages.create({
      ...hello,
      messages: [{ role: 'user', content }],
      metadata: { user_id: JSON.stringify({ device_id: 'd', session_id: session }) },
    });
  for (const content of ['Hi', 'Write a title', 'And now?']) await ask('s1', content);
  const keys = () => new Set(upstream.seen.map(({ headers }) => headers['x-api-key']));
  expect(keys().size).toBe(1);
  for (let index = 0; index < 20; index++) await ask(`other-${index}`, 'Hi');
  expect(keys().size).toBeGreaterThan(2);
});
