/** Errors and broken answers on purpose, as the official clients report them, and their records in the ledger. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { clients, question, startTalks, type Talks, words } from './faulty-talks.ts';

let talks: Talks;

beforeAll(async () => {
  talks = await startTalks();
});
afterAll(() => talks.stop());
beforeEach(() => {
  talks.upstream.seen.length = 0;
});
afterEach(() => talks.gateway.gateway.execute({ type: 'faults.stop' }));

const { openai, anthropic, gemini } = clients;
const whole = words.join('');

describe('an error in place of an answer', () => {
  /** The error classes of the clients, in order. Google's client has a single class for all errors. */
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
    await talks.start(rule);
    for (const stream of [false, true]) {
      expect(await openai(talks.gateway, { stream })).toEqual({ error: ofOpenai, status });
      expect(await anthropic(talks.gateway, { stream })).toEqual({ error: ofAnthropic, status });
      expect(await gemini(talks.gateway, { stream })).toEqual({ error: 'ApiError', status });
    }
    expect(talks.upstream.seen).toEqual([]);
  });

  test('a spent quota and an overloaded service have the status of the client’s own API', async () => {
    await talks.start('quota');
    expect(await openai(talks.gateway, { stream: false })).toEqual({ error: 'RateLimitError', status: 429 });
    expect(await anthropic(talks.gateway, { stream: false })).toEqual({ error: 'PaymentRequiredError', status: 402 });
    expect(await gemini(talks.gateway, { stream: false })).toEqual({ error: 'ApiError', status: 429 });
    await talks.start('overloaded');
    expect(await openai(talks.gateway, { stream: false })).toEqual({ error: 'InternalServerError', status: 503 });
    expect(await anthropic(talks.gateway, { stream: false })).toEqual({ error: 'OverloadedError', status: 529 });
    expect(await gemini(talks.gateway, { stream: false })).toEqual({ error: 'ApiError', status: 503 });
  });

  test('the wait is told where the rule has one', async () => {
    await talks.start('rate-limit;retry-after=7');
    const { status, headers } = await ask();
    expect([status, headers.get('retry-after'), headers.get('x-sluice-fault')]).toEqual([429, '7', 'rate-limit']);
    await talks.start('rate-limit');
    expect((await ask()).headers.get('retry-after')).toBeNull();
  });

  test.each(Object.entries(clients))(
    '%s gets its answer at the third try, if it tries three times',
    async (_, talk) => {
      await talks.start('rate-limit;retry-after=0;first=2');
      expect(await talk(talks.gateway, { stream: false, retries: 2 })).toEqual({ text: whole });
      expect(talks.upstream.seen).toHaveLength(1);
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
    await talks.start(rule);
    const met = [
      await openai(talks.gateway, { stream }),
      await anthropic(talks.gateway, { stream }),
      await gemini(talks.gateway, { stream }),
    ];
    expect(met.map(({ error }) => error)).toEqual(errors);
  });

  test('a stream without its end is an error to one client, and a whole answer to the others', async () => {
    await talks.start('missing-end');
    expect(await anthropic(talks.gateway, { stream: true })).toEqual({ error: 'AnthropicError' });
    expect(await openai(talks.gateway, { stream: true })).toEqual({ text: whole });
    expect(await gemini(talks.gateway, { stream: true })).toEqual({ text: whole });
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
    await talks.start(rule);
    for (const stream of [false, true]) expect(await talk(talks.gateway, { stream })).toEqual({ text: whole });
  });

  test('gets text twice where events are sent twice', async () => {
    await talks.start('duplicate-events;each=2');
    const { text = '' } = await talk(talks.gateway, { stream: true });
    expect(text.length).toBeGreaterThan(whole.length);
  });
});

function ask(more: object = {}, init: RequestInit = {}) {
  const body = JSON.stringify({ model: 'gpt-x', messages: [question], ...more });
  return talks.gateway.fetch('/chat/completions', { method: 'POST', body, ...init });
}

describe('a request that met a fault', () => {
  test.each([
    ['status;code=503', 'status', { outcome: 'error', status: 503, errorCode: 'server_overloaded', provider: null }],
    ['missing-end', 'missing-end', { outcome: 'ok', status: 200, provider: 'main' }],
    ['cut', 'cut', { outcome: 'stream-broken', status: 200 }],
    ['late-head;ms=1', 'late-head', { outcome: 'ok', status: 200, provider: 'main' }],
  ])('%s is recorded and marked as such, and counts as no error', async (rule, name, row) => {
    const errors = async () =>
      (await talks.gateway.gateway.query({ type: 'usage', by: 'key' })).reduce(
        (sum, each) => sum + each.failed + each.refused,
        0,
      );
    const before = await errors();
    await talks.start(rule);
    const response = await ask({ stream: true });
    await response.text().catch(() => '');
    expect(response.headers.get('x-sluice-fault')).toBe(name);
    const record = await talks.gateway.record(response.headers.get('x-sluice-request-id') ?? '');
    expect(record).toMatchObject({ fault: name, ...row });
    expect(await errors()).toBe(before);
    const [provider] = await talks.gateway.gateway.query({ type: 'providers' });
    expect(provider?.health.errorRate ?? 0).toBe(0);
  });

  test.each(['status;code=503', 'html'])('%s is recorded with the bytes that it sent', async (rule) => {
    await talks.start(rule);
    const response = await ask();
    const bytesOut = Buffer.byteLength(await response.text());
    expect(bytesOut).toBeGreaterThan(0);
    expect(await talks.gateway.record(response.headers.get('x-sluice-request-id') ?? '')).toMatchObject({ bytesOut });
  });

  test('and one that met none has no mark', async () => {
    await talks.start('status;code=503;nth=2');
    const response = await ask();
    expect(response.headers.get('x-sluice-fault')).toBeNull();
    expect(await talks.gateway.record(response.headers.get('x-sluice-request-id') ?? '')).toMatchObject({
      fault: null,
    });
  });
});
