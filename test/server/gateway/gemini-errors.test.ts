import { ApiError, GoogleGenAI } from '@google/genai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  forgetFailures,
  hashOf,
  mainProvider,
  startGateway,
  type TestGateway,
  testKey,
} from '../../support/gateway.ts';
import { chunk, completion, dataLine, sendStream } from '../../support/strict-chat.ts';
import { eventStream, json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

let upstream: ScriptedUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startGateway({
    config: {
      groups: [{ id: 'default', policy: { retries: 0, fallbacks: 0 } }],
      keys: [
        { id: 'k1', group: 'default', hash: hashOf(testKey) },
        { id: 'slow', group: 'default', hash: hashOf('slow'), limits: { requestsPerMinute: 1 } },
        {
          id: 'poor',
          group: 'default',
          hash: hashOf('poor'),
          limits: { budgets: [{ unit: 'tokens', amount: 1, per: 'day' }] },
        },
      ],
      providers: [mainProvider(upstream.baseUrl)],
    },
  });
});
beforeEach(() => forgetFailures(gateway));
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

const clientWith = (apiKey: string) => new GoogleGenAI({ apiKey, httpOptions: { baseUrl: gateway.origin } });
const ask = (apiKey = testKey) => clientWith(apiKey).models.generateContent({ model: 'gpt-x', contents: 'Hi' });
const refuse = (status: number, error: object, headers = {}) =>
  upstream.answer((_request, response) => json(response, { error }, status, headers));

async function streamed(): Promise<string[]> {
  const texts: string[] = [];
  const stream = await clientWith(testKey).models.generateContentStream({ model: 'gpt-x', contents: 'Hi' });
  for await (const { text } of stream) if (text) texts.push(text);
  return texts;
}

async function raised(call: Promise<unknown>) {
  const thrown: unknown = await call.then(
    () => expect.unreachable('nothing was raised'),
    (error: unknown) => error,
  );
  if (!(thrown instanceof ApiError)) throw thrown;
  // For a stream, the SDK's message is "got status: 500. {…}".
  const [body = ''] = /\{.*\}/s.exec(thrown.message) ?? [];
  return { status: thrown.status, error: JSON.parse(body).error };
}

describe('an error of the provider is raised as the SDK’s', () => {
  test.each([
    [400, { message: 'Bad', type: 'invalid_request_error' }, 400, 'INVALID_ARGUMENT'],
    [404, { message: 'No model', code: 'model_not_found' }, 404, 'NOT_FOUND'],
    [429, { message: 'Slow', code: 'rate_limit_exceeded' }, 429, 'RESOURCE_EXHAUSTED'],
    [429, { message: 'Pay', code: 'insufficient_quota' }, 429, 'RESOURCE_EXHAUSTED'],
    [500, { message: 'Oops', type: 'server_error' }, 500, 'INTERNAL'],
    [503, { message: 'Busy', type: 'server_error', code: 'server_overloaded' }, 503, 'UNAVAILABLE'],
    [401, { message: 'Key', code: 'invalid_api_key' }, 400, 'FAILED_PRECONDITION'],
  ])('%i %j', async (status, error, told, name) => {
    refuse(status, error);
    for (const call of [ask(), streamed()]) {
      const thrown = await raised(call);
      expect([thrown.status, thrown.error.code, thrown.error.status]).toEqual([told, told, name]);
    }
  });

  test('a context that is too long is told in the words that make gemini-cli compact', async () => {
    const message =
      "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.";
    refuse(400, { message, type: 'invalid_request_error', code: 'context_length_exceeded' });
    expect((await raised(ask())).error.message).toBe(
      'The input token count (9001) exceeds the maximum number of tokens allowed (8192).',
    );
  });

  test('an error in place of a stream’s first event has its status', async () => {
    upstream.answer((_request, response) =>
      sendStream(response, dataLine({ error: { message: 'Bad', code: 'invalid_prompt' } })),
    );
    expect(await raised(streamed())).toMatchObject({ status: 400, error: { status: 'INVALID_ARGUMENT' } });
  });

  test('an error in the midst of a stream is the last event', async () => {
    upstream.answer((_request, response) =>
      sendStream(response, chunk({ content: 'Hel' }) + dataLine({ error: { message: 'Oops', type: 'server_error' } })),
    );
    expect(await raised(streamed())).toMatchObject({ error: { message: 'Oops', status: 'INTERNAL' } });
  });

  test('a stream that breaks off ends in an error', async () => {
    upstream.answer((_request, response) => {
      eventStream(response);
      response.write(chunk({ content: 'Hel' }), () => response.destroy());
    });
    expect(await raised(streamed())).toMatchObject({ error: { status: 'UNAVAILABLE' } });
  });
});

test('limits and budgets are reported in Google’s format', async () => {
  upstream.answer((_request, response) => json(response, completion({ content: 'Hello' })));
  await ask('slow');
  const limited = await raised(ask('slow'));
  expect([limited.status, limited.error.status]).toEqual([429, 'RESOURCE_EXHAUSTED']);
  expect(limited.error.details).toMatchObject([{ retryDelay: expect.stringMatching(/^\d+s$/) }]);
  await ask('poor');
  const spent = await raised(ask('poor'));
  expect([spent.status, spent.error.status]).toEqual([429, 'RESOURCE_EXHAUSTED']);
  expect(spent.error.details).toMatchObject([{ violations: [{ quotaId: expect.stringContaining('PerDay') }] }]);
});

test.each([
  [
    '?alt=sse',
    /^(?:: keep-alive\n\n)+data: \{"error":\{"code":400,"message":"Oops","status":"INVALID_ARGUMENT"\}\}\r\n\r\n$/,
  ],
  ['', /^\n+\[\{"error":\{"code":400,"message":"Oops","status":"INVALID_ARGUMENT"\}\}\]$/],
])('a silence is filled, and an error after it is told in the stream%s', async (query, told) => {
  const pinging = await startGateway({
    config: { settings: { keepAliveCommentMs: 20 }, providers: [mainProvider(upstream.baseUrl)] },
  });
  let isBegun = () => {};
  const begun = new Promise<void>((resolve) => {
    isBegun = resolve;
  });
  upstream.answer(async (_request, response) => {
    await begun;
    json(response, { error: { message: 'Oops', type: 'invalid_request_error' } }, 400);
  });
  const response = await fetch(`${pinging.origin}/v1beta/models/gpt-x:streamGenerateContent${query}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-goog-api-key': testKey },
    body: JSON.stringify({ contents: [{ parts: [{ text: 'Hi' }] }] }),
  });
  isBegun();
  expect(await response.text()).toMatch(told);
  await pinging.stop();
});
