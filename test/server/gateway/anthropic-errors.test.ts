import Anthropic from '@anthropic-ai/sdk';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { hashOf, mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { chunk, completion, dataLine, sendStream, streamOf, strictChat } from '../../support/strict-chat.ts';
import { eventStream, json, type ScriptedUpstream, startUpstream, writePieces } from '../../support/upstream.ts';

let first: ScriptedUpstream;
let second: ScriptedUpstream;
let gateway: TestGateway;
let client: Anthropic;

beforeAll(async () => {
  first = await startUpstream();
  second = await startUpstream();
});
afterAll(async () => {
  await first.stop();
  await second.stop();
});
beforeEach(async () => {
  const policy = { retries: 0, fallbacks: 1 };
  gateway = await startGateway({
    config: {
      groups: [
        { id: 'default', policy },
        { id: 'hasty', policy: { ...policy, hedgeAfterMs: 20 } },
      ],
      keys: [
        { id: 'k1', group: 'default', hash: hashOf(testKey) },
        { id: 'k2', group: 'hasty', hash: hashOf('hasty') },
        { id: 'slow', group: 'default', hash: hashOf('slow'), limits: { requestsPerMinute: 1 } },
        {
          id: 'poor',
          group: 'default',
          hash: hashOf('poor'),
          limits: { budgets: [{ unit: 'tokens', amount: 1, per: 'day' }] },
        },
      ],
      providers: [
        mainProvider(first.baseUrl, { models: ['gpt-x', 'gpt-one'] }),
        mainProvider(second.baseUrl, { id: 'second', models: ['gpt-x'] }),
      ],
    },
    secrets: { 'provider/second/c1': 'second-secret' },
  });
  client = new Anthropic({ baseURL: gateway.origin, apiKey: null, authToken: testKey, maxRetries: 0 });
});
afterEach(() => gateway.stop());

const hello = { model: 'gpt-one', max_tokens: 100, messages: [{ role: 'user' as const, content: 'Hi' }] };
const refuse = (status: number, error: object) =>
  first.answer((_request, response) => json(response, { error }, status));
const recordOf = (response: Response) => gateway.record(response.headers.get('request-id') ?? '');
const raised = (call: PromiseLike<unknown>) =>
  Promise.resolve(call).then(
    () => expect.unreachable('nothing was raised'),
    (error: unknown) => error as InstanceType<typeof Anthropic.APIError>,
  );

describe('an error of the provider is raised as the SDK’s', () => {
  test.each([
    [400, { message: 'Bad', type: 'invalid_request_error' }, Anthropic.BadRequestError, 'invalid_request_error', 400],
    [404, { message: 'No model', code: 'model_not_found' }, Anthropic.NotFoundError, 'not_found_error', 404],
    [422, { message: 'Bad' }, Anthropic.BadRequestError, 'invalid_request_error', 400],
    [429, { message: 'Slow', code: 'rate_limit_exceeded' }, Anthropic.RateLimitError, 'rate_limit_error', 429],
    [429, { message: 'Slow' }, Anthropic.RateLimitError, 'rate_limit_error', 429],
    [429, { message: 'Pay', code: 'insufficient_quota' }, Anthropic.APIError, 'billing_error', 402],
    [500, { message: 'Oops', type: 'server_error' }, Anthropic.InternalServerError, 'api_error', 500],
    [413, { message: 'Large' }, Anthropic.APIError, 'request_too_large', 413],
  ])('%i %j', async (status, error, Raised, type, told) => {
    refuse(status, error);
    for (const stream of [false, true]) {
      const thrown = await raised(client.messages.create({ ...hello, stream }));
      expect(thrown).toBeInstanceOf(Raised);
      expect([thrown.status, thrown.type, thrown.requestID]).toEqual([told, type, expect.stringMatching(/^req_/)]);
      expect(thrown.error).toEqual({ type: 'error', error: { type, message: error.message } });
    }
  });

  test('a context that is too long is reported in the words that make Claude Code compact', async () => {
    const message =
      "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.";
    refuse(400, { message, type: 'invalid_request_error', code: 'context_length_exceeded' });
    const thrown = await raised(client.messages.create(hello));
    expect([thrown.status, thrown.error]).toEqual([
      400,
      {
        type: 'error',
        error: { type: 'invalid_request_error', message: 'prompt is too long: 9001 tokens > 8192 maximum' },
      },
    ]);
  });

  test('a wait that the provider requests is passed on', async () => {
    first.answer((_request, response) =>
      json(response, { error: { message: 'Slow', code: 'rate_limit_exceeded' } }, 429, { 'retry-after': '17' }),
    );
    expect((await raised(client.messages.create(hello))).headers?.get('retry-after')).toBe('17');
  });

  test('an error in place of a stream’s first event has its status', async () => {
    first.answer((_request, response) =>
      sendStream(response, dataLine({ error: { message: 'Bad', code: 'invalid_prompt' } })),
    );
    const thrown = await raised(client.messages.create({ ...hello, stream: true }));
    expect([thrown.status, thrown.type]).toEqual([400, 'invalid_request_error']);
  });
});

describe('an error of Sluice itself', () => {
  const post = (body: string, headers: Record<string, string> = { 'x-api-key': testKey }) =>
    fetch(`${gateway.origin}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
    });
  const told = async (response: Response) => {
    const { type, error } = JSON.parse(await response.text());
    return [response.status, type, error.type, response.headers.get('request-id')];
  };
  const id = expect.stringMatching(/^req_/);

  test('has the format of Anthropic’s API', async () => {
    const auth = [401, 'error', 'authentication_error', id];
    expect(await told(await post('{}', {}))).toEqual(auth);
    expect(await told(await post('{}', { 'x-api-key': 'wrong' }))).toEqual(auth);
    const bad = [400, 'error', 'invalid_request_error', id];
    expect(await told(await post('{"model"'))).toEqual(bad);
    expect(await told(await post('{}'))).toEqual(bad);
    expect(await told(await post('{"model":"gpt-one","messages":[]}'))).toEqual(bad);
    expect(await told(await post('{"model":"gpt-one","messages":[{"role":"user","content":"a"}]}'))).toEqual(bad);
    const missing = [404, 'error', 'not_found_error', id];
    expect(await told(await post('{"model":"nobodys"}'))).toEqual(missing);
    expect(await told(await fetch(`${gateway.origin}/v1/messages/x`, { headers: { 'x-api-key': testKey } }))).toEqual(
      missing,
    );
    const method = await fetch(`${gateway.origin}/v1/messages`, { headers: { 'x-api-key': testKey } });
    expect(await told(method)).toEqual([405, 'error', 'invalid_request_error', id]);
  });

  test('names the field that is wrong', async () => {
    const response = await post('{"model":"gpt-one","max_tokens":9,"messages":[{"role":"robot","content":"a"}]}');
    expect((await response.json()).error.message).toContain('messages[0].role');
    expect(first.seen.filter(({ body }) => body.includes('robot'))).toEqual([]);
    expect(await recordOf(response)).toMatchObject({ outcome: 'error', status: 400, errorCode: 'invalid_value' });
  });

  test('reports limits and budgets as Anthropic does', async () => {
    first.answer((_request, response) => json(response, completion({ content: 'Hello' })));
    const of = (apiKey: string) => new Anthropic({ baseURL: gateway.origin, apiKey, maxRetries: 0 });
    await of('slow').messages.create(hello);
    const thrown = await raised(of('slow').messages.create(hello));
    expect([thrown.status, thrown.type]).toEqual([429, 'rate_limit_error']);
    expect(Number(thrown.headers?.get('retry-after'))).toBeGreaterThan(0);
    await of('poor').messages.create(hello);
    const spent = await raised(of('poor').messages.create(hello));
    expect([spent.status, spent.type, spent.headers?.get('x-should-retry')]).toEqual([402, 'billing_error', 'false']);
  });

  test('reports that a provider’s credential is at fault, and not the client’s key', async () => {
    refuse(401, { message: 'Incorrect API key', code: 'invalid_api_key' });
    const thrown = await raised(client.messages.create(hello));
    expect([thrown.status, thrown.type, thrown.headers?.get('x-should-retry')]).toEqual([502, 'api_error', 'false']);
  });
});

describe('another provider is asked', () => {
  const both = { ...hello, model: 'gpt-x' };
  const answers = (text: string) =>
    second.answer(
      strictChat((body, response) =>
        body.stream
          ? sendStream(response, streamOf([{ content: text }]))
          : json(response, completion({ content: text })),
      ),
    );

  test.each([
    ['that fails', () => refuse(500, { message: 'Oops' })],
    ['whose answer cannot be read', () => first.answer((_request, response) => json(response, { ok: true }))],
    [
      'whose call of a tool is cut',
      () => {
        const given = { id: 'call_1', type: 'function', function: { name: 'a', arguments: '{"b":' } };
        first.answer((_request, response) => json(response, completion({ tool_calls: [given] }, 'tool_calls')));
      },
    ],
  ])('in place of one %s', async (_case, script) => {
    script();
    answers('From the second');
    const { data, response } = await client.messages.create(both).withResponse();
    expect(data.content).toMatchObject([{ text: 'From the second' }]);
    expect(response.headers.get('x-sluice-provider')).toBe('second');
    const record = await gateway.record(response.headers.get('x-sluice-request-id') ?? '');
    expect(record.attempts).toMatchObject([
      { provider: 'main', failure: 'transient' },
      { provider: 'second', failure: null, usage: { inputTokens: 21, outputTokens: 9 } },
    ]);
  });

  test('in place of one whose stream ends before any content', async () => {
    first.answer((_request, response) => sendStream(response, chunk({ role: 'assistant', content: '' })));
    answers('From the second');
    expect((await client.messages.stream(both).finalMessage()).content).toMatchObject([{ text: 'From the second' }]);
  });
});

test('a silent provider is hedged with another one, and the first to send content is the answer', async () => {
  const stopped = new Promise<void>((resolve) => {
    first.answer((_request, response) => {
      response.once('close', resolve);
    });
  });
  second.answer(strictChat((_body, response) => sendStream(response, streamOf([{ content: 'From the second' }]))));
  const hasty = new Anthropic({ baseURL: gateway.origin, apiKey: 'hasty', maxRetries: 0 });
  const message = await hasty.messages.stream({ ...hello, model: 'gpt-x' }).finalMessage();
  expect(message.content).toMatchObject([{ text: 'From the second' }]);
  await stopped;
});

describe('a stream that breaks', () => {
  const ask = () =>
    fetch(`${gateway.origin}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': testKey },
      body: JSON.stringify({ ...hello, stream: true }),
    });
  const cut = (text: string) =>
    first.answer(async (_request, response) => {
      eventStream(response);
      await writePieces(response, Buffer.from(text), []);
      response.destroy();
    });

  test('ends with the error event that the SDK raises, and never with message_stop', async () => {
    cut(chunk({ content: 'Once' }));
    const response = await ask();
    const text = await response.text();
    const events = text.split('\n').filter((line) => line.startsWith('event:'));
    expect(events).toEqual([
      'event: message_start',
      'event: content_block_start',
      'event: content_block_delta',
      'event: error',
    ]);
    expect(await recordOf(response)).toMatchObject({
      outcome: 'stream-broken',
      attempts: [{ failure: 'stream-broken' }],
    });
    const thrown = await raised(client.messages.stream(hello).finalMessage());
    expect([thrown, thrown.type]).toEqual([expect.any(Anthropic.APIError), 'api_error']);
  });

  test('in the middle of a call ends in an error, so that no client runs half of it', async () => {
    const part = (more: object) => chunk({ tool_calls: [{ index: 0, ...more }] });
    const begun = part({ id: 'call_1', type: 'function', function: { name: 'rm', arguments: '{"path":"/a' } });
    cut(begun);
    const thrown = await raised(client.messages.stream(hello).finalMessage());
    expect(thrown).toBeInstanceOf(Anthropic.APIError);
    first.answer((_request, response) => sendStream(response, `${begun}${chunk({}, 'tool_calls')}data: [DONE]\n\n`));
    const response = await ask();
    const text = await response.text();
    expect(text).toMatch(/event: error\ndata: .*\n\n$/);
    expect(text).not.toContain('message_stop');
    expect(await recordOf(response)).toMatchObject({
      outcome: 'stream-broken',
      attempts: [{ failure: 'stream-broken' }],
    });
  });

  test('with an error event of the provider ends with that error', async () => {
    const error = { message: 'Overloaded', code: 'server_overloaded' };
    first.answer((_request, response) => sendStream(response, `${chunk({ content: 'Once' })}${dataLine({ error })}`));
    const response = await ask();
    const text = await response.text();
    expect(text).toMatch(
      /event: error\ndata: \{"type":"error","error":\{"type":"overloaded_error","message":"Overloaded"\}\}\n\n$/,
    );
    expect(await recordOf(response)).toMatchObject({ outcome: 'error', errorCode: 'server_overloaded' });
  });
});
