/** Each fault on purpose as the official clients see it. */
import Anthropic from '@anthropic-ai/sdk';
import { ApiError, GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { completion, sendStream, streamOf, strictChat } from '../../support/strict-chat.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

let upstream: ScriptedUpstream;
let gateway: TestGateway;

const words = ['One ', 'two ', 'three ', 'four ', 'five ', 'six ', 'größer.'];

beforeAll(async () => {
  upstream = await startUpstream(
    strictChat((body, response) => {
      if (body.stream) sendStream(response, streamOf(words.map((content) => ({ content }))));
      else json(response, completion({ content: words.join('') }));
    }),
  );
  gateway = await startGateway({ config: { providers: [mainProvider(upstream.baseUrl, { serves: ['chat'] })] } });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});
beforeEach(() => {
  upstream.seen.length = 0;
});
afterEach(() => gateway.gateway.execute({ type: 'faults.stop' }));

const start = (...rules: string[]) => gateway.gateway.execute({ type: 'faults.start', key: 'k1', rules, seed: 1 });

interface Outcome {
  /** What the program got. */
  text?: string;
  /** The class of the error that it met. */
  error?: string;
  status?: number | undefined;
}

/** One conversation with one of the clients; `retries` as their own default. */
type Talk = (options: { stream: boolean; retries?: number }) => Promise<Outcome>;

const question = { role: 'user' as const, content: 'Count.' };

async function outcome(talk: () => Promise<string>): Promise<Outcome> {
  try {
    return { text: await talk() };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const isTyped =
      error instanceof OpenAI.APIError || error instanceof Anthropic.APIError || error instanceof ApiError;
    return { error: error.constructor.name, ...(isTyped && { status: error.status }) };
  }
}

const openai: Talk = ({ stream, retries = 0 }) =>
  outcome(async () => {
    const client = new OpenAI({ baseURL: gateway.baseUrl, apiKey: testKey, maxRetries: retries });
    const asked = { model: 'gpt-x', messages: [question] };
    if (!stream) return (await client.chat.completions.create(asked)).choices[0]?.message.content ?? '';
    let text = '';
    for await (const chunk of await client.chat.completions.create({ ...asked, stream: true })) {
      text += chunk.choices[0]?.delta.content ?? '';
    }
    return text;
  });

const anthropic: Talk = ({ stream, retries = 0 }) =>
  outcome(async () => {
    const client = new Anthropic({ baseURL: gateway.origin, apiKey: testKey, maxRetries: retries });
    const asked = { model: 'gpt-x', max_tokens: 100, messages: [question] };
    const message = stream ? await client.messages.stream(asked).finalMessage() : await client.messages.create(asked);
    return message.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
  });

const gemini: Talk = ({ stream, retries = 0 }) =>
  outcome(async () => {
    const client = new GoogleGenAI({
      apiKey: testKey,
      httpOptions: { baseUrl: gateway.origin, ...(retries > 0 && { retryOptions: { attempts: retries + 1 } }) },
    });
    const asked = { model: 'gpt-x', contents: 'Count.' };
    if (!stream) return (await client.models.generateContent(asked)).text ?? '';
    let text = '';
    for await (const chunk of await client.models.generateContentStream(asked)) text += chunk.text ?? '';
    return text;
  });

const clients = { openai, anthropic, gemini };
const whole = words.join('');

describe('an error in place of an answer', () => {
  /** The classes that the clients raise, in their order; Google's client has one for all. */
  test.each([
    ['status;code=400', 'BadRequestError', 'BadRequestError', 400],
    ['status;code=401', 'AuthenticationError', 'AuthenticationError', 401],
    ['status;code=403', 'PermissionDeniedError', 'PermissionDeniedError', 403],
    ['status;code=404', 'NotFoundError', 'NotFoundError', 404],
    ['status;code=408', 'APIError', 'RequestTimeoutError', 408],
    ['status;code=409', 'ConflictError', 'ConflictError', 409],
    ['status;code=413', 'APIError', 'ContentTooLargeError', 413],
    ['status;code=429', 'RateLimitError', 'RateLimitError', 429],
    ['status;code=500', 'InternalServerError', 'InternalServerError', 500],
    ['status;code=502', 'InternalServerError', 'InternalServerError', 502],
    ['status;code=503', 'InternalServerError', 'ServiceUnavailableError', 503],
    ['status;code=504', 'InternalServerError', 'GatewayTimeoutError', 504],
    ['status;code=529', 'InternalServerError', 'OverloadedError', 529],
    ['rate-limit', 'RateLimitError', 'RateLimitError', 429],
    ['context-overflow', 'BadRequestError', 'BadRequestError', 400],
  ])('%s', async (rule, ofOpenai, ofAnthropic, status) => {
    await start(rule);
    for (const stream of [false, true]) {
      expect(await openai({ stream })).toEqual({ error: ofOpenai, status });
      expect(await anthropic({ stream })).toEqual({ error: ofAnthropic, status });
      expect(await gemini({ stream })).toEqual({ error: 'ApiError', status });
    }
    expect(upstream.seen).toEqual([]);
  });

  test('a spent quota and an overloaded service have the status of the client’s own API', async () => {
    await start('quota');
    expect(await openai({ stream: false })).toEqual({ error: 'RateLimitError', status: 429 });
    expect(await anthropic({ stream: false })).toEqual({ error: 'PaymentRequiredError', status: 402 });
    expect(await gemini({ stream: false })).toEqual({ error: 'ApiError', status: 429 });
    await start('overloaded');
    expect(await openai({ stream: false })).toEqual({ error: 'InternalServerError', status: 503 });
    expect(await anthropic({ stream: false })).toEqual({ error: 'OverloadedError', status: 529 });
    expect(await gemini({ stream: false })).toEqual({ error: 'ApiError', status: 503 });
  });

  test('the wait is told where the rule has one', async () => {
    await start('rate-limit;retry-after=7');
    const { status, headers } = await ask();
    expect([status, headers.get('retry-after'), headers.get('x-sluice-fault')]).toEqual([429, '7', 'rate-limit']);
    await start('rate-limit');
    expect((await ask()).headers.get('retry-after')).toBeNull();
  });

  test.each(Object.entries(clients))(
    '%s gets its answer at the third try, if it tries three times',
    async (_, talk) => {
      await start('rate-limit;retry-after=0;first=2');
      expect(await talk({ stream: false, retries: 2 })).toEqual({ text: whole });
      expect(upstream.seen).toHaveLength(1);
    },
  );
});

describe('a broken connection or answer', () => {
  test.each([
    ['reset', false, 'APIConnectionError', 'APIConnectionError', 'TypeError'],
    ['reset', true, 'APIConnectionError', 'APIConnectionError', 'TypeError'],
    ['html', false, 'TypeError', 'TypeError', 'SyntaxError'],
    ['cut', false, 'TypeError', 'TypeError', 'TypeError'],
    ['cut;after=2', true, 'TypeError', 'AnthropicError', 'TypeError'],
    ['cut;bytes=40', true, 'TypeError', 'AnthropicError', 'TypeError'],
    ['cut;inside=character', true, 'TypeError', 'AnthropicError', 'TypeError'],
    ['cut;inside=tool-call', true, 'TypeError', 'AnthropicError', 'TypeError'],
    ['malformed-event', false, 'SyntaxError', 'SyntaxError', 'SyntaxError'],
    ['malformed-event', true, 'SyntaxError', 'AnthropicError', 'SyntaxError'],
    ['error-event', true, 'APIError', 'APIError', 'ApiError'],
    ['damaged-gzip', false, 'SyntaxError', 'TypeError', 'SyntaxError'],
    ['damaged-gzip', true, 'TypeError', 'AnthropicError', 'Error'],
  ])('%s, as a stream: %s', async (rule, stream, ...errors) => {
    await start(rule);
    const met = [await openai({ stream }), await anthropic({ stream }), await gemini({ stream })];
    expect(met.map(({ error }) => error)).toEqual(errors);
  });

  test('a stream without its end is an error to one client, and a whole answer to the others', async () => {
    await start('missing-end');
    expect(await anthropic({ stream: true })).toEqual({ error: 'AnthropicError' });
    expect(await openai({ stream: true })).toEqual({ text: whole });
    expect(await gemini({ stream: true })).toEqual({ text: whole });
  });
});

describe.each(Object.entries(clients))('%s', (_, talk) => {
  test.each([
    'late-head;ms=5',
    'late-event;ms=5',
    'pace;events-per-second=500',
    'pace;tokens-per-second=5000',
    'huge-event',
  ])('gets the whole answer in spite of %s', async (rule) => {
    await start(rule);
    for (const stream of [false, true]) expect(await talk({ stream })).toEqual({ text: whole });
  });

  test('gets text twice where events are sent twice', async () => {
    await start('duplicate-events;each=2');
    const { text = '' } = await talk({ stream: true });
    expect(text.length).toBeGreaterThan(whole.length);
  });
});

function ask(more: object = {}, init: RequestInit = {}) {
  const body = JSON.stringify({ model: 'gpt-x', messages: [question], ...more });
  return gateway.fetch('/chat/completions', { method: 'POST', body, ...init });
}

describe('what a client is left waiting for', () => {
  test('silence lasts until the client leaves', async () => {
    await start('silence');
    const leaving = new AbortController();
    const waiting = ask({}, { signal: leaving.signal });
    leaving.abort();
    await expect(waiting).rejects.toThrow();
    expect(upstream.seen).toEqual([]);
  });

  test('silence ends with the connection after its time', async () => {
    await start('silence;seconds=1');
    await expect(ask()).rejects.toThrow('fetch failed');
  });

  test('a stalled stream has its first events, and nothing after', async () => {
    await start('stall;after=3;seconds=1');
    const response = await ask({ stream: true });
    let text = '';
    const reading = async () => {
      for await (const bytes of response.body ?? []) text += Buffer.from(bytes).toString();
    };
    await expect(reading()).rejects.toThrow();
    expect(text.split('\n\n').filter(Boolean)).toHaveLength(3);
  });
});

describe('what an answer says', () => {
  test.each([
    ['omit', undefined],
    ['zero', 0],
    ['double', 42],
  ])('usage;change=%s', async (change, promptTokens) => {
    await start(`usage;change=${change}`);
    const plain = (await (await ask()).json()) as { usage?: { prompt_tokens: number } };
    expect(plain.usage?.prompt_tokens).toBe(promptTokens);
    const events = await (await ask({ stream: true, stream_options: { include_usage: true } })).text();
    expect(/"prompt_tokens":(\d+)/.exec(events)?.[1]).toBe(promptTokens?.toString());
  });

  test('a filtered answer says so in the words of its API', async () => {
    await start('filtered');
    const chat = (await (await ask()).json()) as OpenAI.ChatCompletion;
    expect(chat.choices[0]?.finish_reason).toBe('content_filter');
    const asked = { model: 'gpt-x', max_tokens: 100, messages: [question] };
    const message = new Anthropic({ baseURL: gateway.origin, apiKey: testKey }).messages;
    expect((await message.stream(asked).finalMessage()).stop_reason).toBe('refusal');
    const response = gateway.client.responses.stream({ model: 'gpt-x', input: 'Count.' });
    expect((await response.finalResponse()).incomplete_details).toEqual({ reason: 'content_filter' });
  });

  test('a wrong content type changes nothing else', async () => {
    await start('wrong-type');
    const response = await ask();
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(await response.json()).toMatchObject({ choices: [{ message: { content: whole } }] });
  });
});

describe('a request that met a fault', () => {
  test.each([
    ['status;code=503', 'status', { outcome: 'error', status: 503, errorCode: 'server_overloaded', provider: null }],
    ['missing-end', 'missing-end', { outcome: 'ok', status: 200, provider: 'main' }],
    ['cut', 'cut', { outcome: 'stream-broken', status: 200 }],
    ['late-head;ms=1', 'late-head', { outcome: 'ok', status: 200, provider: 'main' }],
  ])('%s is recorded and marked as such, and counts as no error', async (rule, name, row) => {
    const errors = async () =>
      (await gateway.gateway.query({ type: 'usage', by: 'key' })).reduce((sum, each) => sum + each.errors, 0);
    const before = await errors();
    await start(rule);
    const response = await ask({ stream: true });
    await response.text().catch(() => '');
    expect(response.headers.get('x-sluice-fault')).toBe(name);
    const record = await gateway.record(response.headers.get('x-sluice-request-id') ?? '');
    expect(record).toMatchObject({ fault: name, ...row });
    expect(await errors()).toBe(before);
    const [provider] = await gateway.gateway.query({ type: 'providers' });
    expect(provider?.health.errorRate ?? 0).toBe(0);
  });

  test('and one that met none has no mark', async () => {
    await start('status;code=503;nth=2');
    const response = await ask();
    expect(response.headers.get('x-sluice-fault')).toBeNull();
    expect(await gateway.record(response.headers.get('x-sluice-request-id') ?? '')).toMatchObject({ fault: null });
  });
});
