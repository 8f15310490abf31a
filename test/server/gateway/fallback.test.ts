import type http from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { damagedGzip } from '../../../server/faults/shape-bytes.ts';
import { eventually } from '../../support/eventually.ts';
import { hashOf, testKey } from '../../support/gateway.ts';
import { eventStream, json, type Script } from '../../support/upstream.ts';
import { chunk } from './streams.ts';
import { answer, chat, chunksOf, data, done, startTwo, streams, type TwoUpstreams, textOf } from './two-upstreams.ts';

const policy = { retries: 1, fallbacks: 1, timeouts: { firstByteMs: 400, firstContentMs: 400, idleMs: 400 } };
const good = { id: 'x', object: 'chat.completion', model: 'model-of-two', choices: [] };
let both: TwoUpstreams;

beforeEach(async () => {
  both = await startTwo(policy);
  both.two.answer((_request, response) => json(response, good));
});
afterEach(() => both.stop());

const plain = {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: '{"model":"gpt-x","messages":[]}',
};

async function ask(init: RequestInit = plain, path = '/chat/completions') {
  const response = await both.gateway.fetch(path, init);
  const text = await response.text();
  const record = await both.gateway.record(response.headers.get('x-sluice-request-id') ?? '');
  return { response, text, record };
}

const errorOf = (code: string | null, more: object = {}) => ({
  error: { message: `because of ${code}`, type: 'some_error', param: null, code, ...more },
});

const bytes =
  (body: Buffer, headers: http.OutgoingHttpHeaders): Script =>
  (_request, response) =>
    void response.writeHead(200, { 'content-length': body.length, ...headers }).end(body);

describe('an answer that is none is had from the next target', () => {
  const jsonType = { 'content-type': 'application/json' };
  test.each<[string, Script]>([
    ['a server error', (_request, response) => json(response, errorOf('server_error'), 500)],
    ['a rate limit that lasts', (_request, response) => json(response, errorOf('x'), 429, { 'retry-after': '60' })],
    ['a used-up quota', (_request, response) => json(response, errorOf('insufficient_quota'), 429)],
    ['a bad credential', (_request, response) => json(response, errorOf('invalid_api_key'), 401)],
    ['a model that is not there', (_request, response) => json(response, errorOf('model_not_found'), 404)],
    ['an error in a 200', (_request, response) => json(response, errorOf('server_error'))],
    ['an error of a choice in a 200', (_request, response) => json(response, { choices: [errorOf('x')] })],
    ['a page', bytes(Buffer.from('<html>Sign in</html>'), { 'content-type': 'text/html' })],
    ['text that is no JSON', bytes(Buffer.from('upstream connect error'), { 'content-type': 'text/plain' })],
    ['half of the JSON', bytes(Buffer.from('{"id":"x","choices":[{"mess'), jsonType)],
    ['nothing', bytes(Buffer.alloc(0), jsonType)],
    ['half of a long JSON', bytes(Buffer.from(`{"id":"x","y":"${'z'.repeat(40_000)}`), jsonType)],
    [
      'a damaged gzip',
      bytes(damagedGzip(Buffer.from(JSON.stringify(good))), { ...jsonType, 'content-encoding': 'gzip' }),
    ],
    ['a gzip of an error', bytes(gzipSync(JSON.stringify(errorOf('x'))), { ...jsonType, 'content-encoding': 'gzip' })],
    [
      'less than its length says',
      (_request, response) => {
        response.writeHead(200, { ...jsonType, 'content-length': 100 }).write('{"id":');
        setTimeout(() => response.destroy(), 10);
      },
    ],
    ['a body that stalls', (_request, response) => void response.writeHead(200, jsonType).write('{"id":')],
    ['an error whose body stalls', (_request, response) => void response.writeHead(503, jsonType).write('{"err')],
    ['a redirect', (_request, response) => void response.writeHead(302, { location: '/elsewhere' }).end()],
  ])('%s', async (_name, script) => {
    both.one.answer(script);
    const { response, text, record } = await ask();
    expect([response.status, JSON.parse(text)]).toEqual([200, good]);
    expect(response.headers.get('x-sluice-provider')).toBe('two');
    expect(response.headers.get('x-sluice-attempts')).toBe(String(record.attempts.length));
    expect(record).toMatchObject({ outcome: 'ok', provider: 'two', errorCode: null });
    expect(record.attempts.at(-1)).toMatchObject({ cause: 'fallback', failure: null });
    expect(record.attempts[0]?.failure).not.toBeNull();
    expect(both.one.seen.length).toBeLessThanOrEqual(2);
  });

  test('sound whose compression is damaged is had from the next target', async () => {
    const damaged = damagedGzip(Buffer.alloc(4_000, 'sound'));
    both.one.answer(bytes(damaged, { 'content-type': 'audio/mpeg', 'content-encoding': 'gzip' }));
    both.two.answer(
      (_request, response) => void response.writeHead(200, { 'content-type': 'audio/mpeg' }).end('heard'),
    );
    const speech = { ...plain, body: '{"model":"gpt-x","input":"Hello","voice":"alloy"}' };
    const { response, text } = await ask(speech, '/audio/speech');
    expect([response.status, text, response.headers.get('x-sluice-provider')]).toEqual([200, 'heard', 'two']);
  });

  test('a compressed one that is whole passes as it came', async () => {
    both.one.answer(
      bytes(gzipSync(JSON.stringify(good)), { 'content-type': 'application/json', 'content-encoding': 'gzip' }),
    );
    const { response, text } = await ask();
    expect([response.headers.get('content-encoding'), JSON.parse(text)]).toEqual(['gzip', good]);
    expect(both.two.seen).toHaveLength(0);
  });
});

describe('an answer that says what is wrong with the request', () => {
  test.each([
    [400, 'invalid_value'],
    [400, 'content_policy_violation'],
    [400, 'context_length_exceeded'],
    [403, 'moderation_blocked'],
    [403, 'bio_policy'],
    [404, 'image_file_not_found'],
    [413, null],
    [422, null],
  ])('%i %s is relayed as it came, and nobody else is asked', async (status, code) => {
    const body = errorOf(code);
    both.one.answer((_request, response) => json(response, body, status, { 'x-request-id': 'theirs' }));
    const { response, text, record } = await ask();
    expect([response.status, text, response.headers.get('x-request-id')]).toEqual([
      status,
      JSON.stringify(body),
      'theirs',
    ]);
    expect([both.one.seen.length, both.two.seen.length]).toEqual([1, 0]);
    expect(record).toMatchObject({ outcome: 'error', status, errorCode: code });
  });
});

describe('an answer about the account of the provider', () => {
  const showsSecret = { message: 'Incorrect API key provided: secret-of-one.', type: 'invalid_request_error' };

  test.each([
    [401, { ...showsSecret, code: 'invalid_api_key' }, 'provider_credential_refused'],
    [403, { ...showsSecret, code: null }, 'provider_credential_refused'],
    [400, { ...showsSecret, code: null }, 'provider_credential_refused'],
    [402, { ...showsSecret, code: null }, 'provider_quota_exhausted'],
    [400, { message: 'Your credit balance is too low for secret-of-one.' }, 'provider_quota_exhausted'],
  ])('%i %j does not look as if the key of the client were wrong', async (status, error, code) => {
    both.one.answer((_request, response) => json(response, { error }, status, { 'x-leaks': 'secret-of-one' }));
    both.two.answer((_request, response) => void response.destroy());
    const { response, text, record } = await ask();
    expect([response.status, response.headers.get('x-should-retry')]).toEqual([502, 'false']);
    const told = JSON.parse(text).error;
    expect(told).toMatchObject({ type: 'server_error', code, message: expect.stringContaining('Provider "one"') });
    expect(told.message).toMatch(/Set a valid one|set a credential of another account/);
    expect(text + JSON.stringify([...response.headers])).not.toContain('secret-of-one');
    expect(record).toMatchObject({ status: 502, errorCode: code });
  });

  test('is nothing to the client where another target answers', async () => {
    both.one.answer((_request, response) => json(response, { error: showsSecret }, 401));
    expect((await ask()).response.status).toBe(200);
  });

  test('says of a provider without a credential that it needs one', async () => {
    await both.stop();
    both = await startTwo({ fallbacks: 0 }, { two: { credentials: [] } });
    both.two.answer((_request, response) => json(response, { error: showsSecret }, 401));
    const { text } = await ask({ ...plain, body: '{"model":"two/gpt-x","messages":[]}' });
    expect(JSON.parse(text).error.message).toContain('requires a credential and has none');
  });

  test('with 429 insufficient_quota is relayed, for SDKs know it', async () => {
    const body = errorOf('insufficient_quota');
    for (const one of [both.one, both.two]) one.answer((_request, response) => json(response, body, 429));
    const { response, text } = await ask();
    expect([response.status, response.headers.get('x-should-retry'), JSON.parse(text)]).toEqual([429, 'false', body]);
  });
});

test('when all fail, the most telling answer is relayed, and the ledger tells each attempt', async () => {
  const limited = errorOf('rate_limit_exceeded');
  both.one.answer((_request, response) =>
    json(response, limited, 429, { 'retry-after': '60', 'x-request-id': 'of one' }),
  );
  both.two.answer((_request, response) => void response.destroy());
  const { response, text, record } = await ask();
  expect([response.status, text]).toEqual([429, JSON.stringify(limited)]);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'retry-after': '60',
    'x-request-id': 'of one',
    'x-sluice-provider': 'one',
    'x-sluice-attempts': '3',
  });
  expect(record.attempts).toMatchObject([
    {
      provider: 'one',
      cause: 'first',
      failure: 'rate-limit',
      status: 429,
      error: expect.stringContaining('rate_limit'),
    },
    { provider: 'two', cause: 'fallback', failure: 'transient', status: null },
    { provider: 'two', cause: 'retry', failure: 'transient', status: null },
  ]);
});

test('what Google tells in a list, and the wait in its midst, reaches SDKs too', async () => {
  const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.4s' }];
  const told = { error: { code: 429, message: 'Exhausted', status: 'RESOURCE_EXHAUSTED', details } };
  for (const one of [both.one, both.two]) one.answer((_request, response) => json(response, [told], 429));
  const { response, text } = await ask();
  expect([response.status, response.headers.get('retry-after'), JSON.parse(text)]).toEqual([429, '35', told]);
});

test('a wait that is told and short is kept', async () => {
  let first = 0;
  both.one.answer((_request, response) => {
    if (first === 0) {
      first = performance.now();
      json(response, errorOf('slow_down'), 429, { 'retry-after-ms': '300' });
    } else json(response, { ...good, waitedMs: performance.now() - first });
  });
  expect(JSON.parse((await ask()).text).waitedMs).toBeGreaterThanOrEqual(299);
  expect(both.two.seen).toHaveLength(0);
});

test('the headers about attempts can be switched off', async () => {
  const quiet = await startTwo(policy, { config: { settings: { replyHeaders: false } } });
  const response = await quiet.gateway.fetch('/chat/completions', plain);
  await response.text();
  expect([...response.headers.keys()].filter((name) => name.startsWith('x-sluice'))).toEqual(['x-sluice-request-id']);
  await quiet.stop();
});

describe('a stream', () => {
  const role = data(chunk({ role: 'assistant', content: '' }));
  const overloaded = data({ error: { message: 'Overloaded', type: 'server_error', code: 'server_is_overloaded' } });
  beforeEach(() => streams(both.two, answer('two', 'Hello')));

  test.each<[string, string[], 'ends' | 'breaks' | 'stalls']>([
    ['ends after its role', [role], 'ends'],
    ['is empty', [], 'ends'],
    ['is nothing but [DONE]', [role, done], 'ends'],
    ['breaks before it says anything', [role], 'breaks'],
    ['says nothing', [role], 'stalls'],
    ['sends comments only', [': wait\n\n', ': wait\n\n'], 'stalls'],
    ['begins with an error', [overloaded], 'ends'],
    ['has an error after its role', [role, overloaded, done], 'ends'],
    ['is malformed from its beginning', ['data: {"id"\n\n', 'data: nothing\n\n'], 'ends'],
  ])('that %s is had from the next target', async (_name, events, then) => {
    streams(both.one, events, then);
    const { text, record } = await ask(chat({ stream_options: { include_usage: true } }));
    expect(text).toBe(answer('two', 'Hello').join(''));
    expect(record).toMatchObject({ outcome: 'ok', provider: 'two' });
  });

  test('that is kept busy with comments does not count as answering', async () => {
    both.one.answer((_request, response) => {
      eventStream(response);
      const timer = setInterval(() => response.write(': working\n\n'), 50);
      response.on('close', () => clearInterval(timer));
    });
    const { record } = await ask(chat());
    expect(record.attempts).toMatchObject([{ failure: 'silent', firstContentMs: null }, { failure: null }]);
  });

  test('loses its malformed events and nothing else', async () => {
    const events = answer('one', 'a', 'b', 'c');
    const odd = [
      'data: {"id":"chatcmpl-one","choices":[{"delta":{"content":"x\n\n',
      'data: {oops}\n\n',
      'data:\n\n',
      'data: \u0000\n\n',
    ];
    streams(both.one, [events[0] ?? '', ...odd, ...events.slice(1, 3), ...odd, ...events.slice(3)]);
    const { text, record } = await ask(chat({ stream_options: { include_usage: true } }));
    expect(text).toBe(events.join(''));
    expect(record).toMatchObject({ outcome: 'ok', attempts: [{ provider: 'one', droppedEvents: 8, failure: null }] });
  });

  // As long as it does not come at full speed: this is less than what makes one look so.
  test('loses also what is damaged in the middle of an event', async () => {
    const events = answer('one', ...Array.from({ length: 12 }, (_, index) => `word ${index} `));
    const damaged = events[9]?.replace('"delta"', '"delta') ?? '';
    streams(both.one, events.toSpliced(9, 0, damaged));
    const { text, record } = await ask(chat({ stream_options: { include_usage: true } }));
    expect(text).toBe(events.join(''));
    expect(record.attempts).toMatchObject([{ droppedEvents: 1, failure: null }]);
  });

  test('tells an error as an HTTP error where nobody does better', async () => {
    streams(both.one, [overloaded]);
    streams(both.two, [overloaded]);
    const { response, text } = await ask(chat());
    expect([response.status, JSON.parse(text).error.code]).toEqual([503, 'server_is_overloaded']);
  });

  test.each([
    ['before', 0],
    ['after', 2],
  ])('whose request is at fault %s its first text is told so, and nobody else is asked', async (_when, count) => {
    const refusal = data({ error: { message: 'No.', code: 'bio_policy' } });
    streams(both.one, [...answer('one', 'Hello').slice(0, count), refusal]);
    const { response, text, record } = await ask(chat());
    expect([response.status, both.one.seen.length, both.two.seen.length]).toEqual([count === 0 ? 400 : 200, 1, 0]);
    expect(count === 0 ? JSON.parse(text).error : chunksOf(text).at(-1).error).toMatchObject({ code: 'bio_policy' });
    expect(record).toMatchObject({ outcome: 'error', errorCode: 'bio_policy', attempts: [{ failure: 'rejected' }] });
  });

  test('is kept alive with comments while nobody has answered, and ends with an error event if nobody does', async () => {
    const patient = await startTwo(
      { ...policy, retries: 0 },
      {
        config: {
          settings: { keepAliveCommentMs: 100 },
          groups: [{ id: 'default', policy: { ...policy, retries: 0 } }],
          keys: [{ id: 'k1', group: 'default', hash: hashOf(testKey) }],
        },
      },
    );
    patient.one.answer(() => {});
    patient.two.answer((_request, response) => json(response, errorOf('rate_limit_exceeded'), 429));
    const response = await patient.gateway.fetch('/chat/completions', chat());
    const text = await response.text();
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
    expect(text.startsWith(': keep-alive\n\n')).toBe(true);
    expect(chunksOf(text)).toMatchObject([{ error: { code: 'rate_limit_exceeded' } }]);
    const record = await patient.gateway.record(response.headers.get('x-sluice-request-id') ?? '');
    expect(record).toMatchObject({ outcome: 'error', status: 200, errorCode: 'rate_limit_exceeded' });

    streams(patient.two, answer('two', 'Hello'));
    const again = await patient.gateway.fetch('/chat/completions', chat());
    expect(textOf(await again.text())).toBe('Hello');
    await patient.stop();
  });
});

describe('a client that leaves', () => {
  const leave = async (init: RequestInit, until: () => boolean) => {
    const abort = new AbortController();
    const asked = both.gateway.fetch('/chat/completions', { ...init, signal: abort.signal }).catch(() => null);
    await eventually(until);
    abort.abort();
    await asked;
    return eventually(async () => {
      const row = await both.gateway.record();
      return row.outcome === 'client-gone' ? row : null;
    });
  };

  test('during a wait ends the request at once', async () => {
    await both.stop();
    both = await startTwo({ ...policy, fallbacks: 0 });
    both.one.answer((_request, response) => json(response, errorOf('slow_down'), 429, { 'retry-after': '8' }));
    const record = await leave(plain, () => both.one.seen.length === 1);
    expect(record.totalMs).toBeLessThan(8_000);
    expect(record.attempts).toMatchObject([{ failure: 'rate-limit' }]);
  });

  test('has its answer read to the end where the group wants exact usage', async () => {
    await both.stop();
    both = await startTwo({ ...policy, onClientGone: 'drain' });
    const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
    const events = answer('one', 'Hello', ' there');
    const rest = [...events.slice(2, -1), data({ ...chunk({}), choices: [], usage }), done].join('');
    let finish = () => {};
    both.one.answer((_request, response) => {
      eventStream(response);
      response.write(events.slice(0, 2).join(''));
      finish = () => response.end(rest);
    });
    const abort = new AbortController();
    const response = await both.gateway.fetch('/chat/completions', { ...chat(), signal: abort.signal });
    const id = response.headers.get('x-sluice-request-id') ?? '';
    abort.abort();
    // Once these are answered the gateway has noticed that nobody reads any more.
    for (let times = 0; times < 3; times++) await (await both.gateway.fetch('/models')).text();
    finish();
    expect(await both.gateway.record(id)).toMatchObject({
      outcome: 'client-gone',
      usage: { inputTokens: 3, outputTokens: 2 },
      attempts: [{ failure: null }],
    });
  });
});

describe('hedging', () => {
  const slow =
    (afterMs: number, who: string): Script =>
    (_request, response) => {
      setTimeout(() => {
        eventStream(response);
        response.end(answer(who, 'Hello').join(''));
      }, afterMs);
    };
  beforeEach(async () => {
    await both.stop();
    both = await startTwo({ ...policy, hedgeAfterMs: 100, timeouts: {} });
  });

  test('asks the next target too, takes the first that answers and gives the other up', async () => {
    const closed = Promise.withResolvers<void>();
    both.one.answer((_request, response) => void response.on('close', closed.resolve));
    both.two.answer(slow(20, 'two'));
    const { text, record } = await ask(chat());
    expect(text).toContain('chatcmpl-two');
    await closed.promise;
    expect(record).toMatchObject({ outcome: 'ok', provider: 'two' });
    expect(record.attempts).toMatchObject([
      { provider: 'one', cause: 'first', failure: null, error: expect.stringContaining('given up') },
      { provider: 'two', cause: 'hedge', failure: null },
    ]);
  });

  test('leaves the first its answer where that is faster after all', async () => {
    both.one.answer(slow(250, 'one'));
    both.two.answer(() => {});
    const { text, record } = await ask(chat());
    expect(text).toContain('chatcmpl-one');
    expect(record).toMatchObject({ provider: 'one', attempts: [{ cause: 'first' }, { cause: 'hedge' }] });
  });

  test('asks one target where that is fast', async () => {
    await both.stop();
    both = await startTwo({ ...policy, hedgeAfterMs: 5_000, timeouts: {} });
    both.one.answer(slow(0, 'one'));
    const { record } = await ask(chat());
    expect(record.attempts).toHaveLength(1);
    expect(both.two.seen).toHaveLength(0);
  });

  test('goes on as usual where both fail', async () => {
    both.one.answer((_request, response) => void setTimeout(() => json(response, errorOf('a'), 503), 200));
    both.two.answer((_request, response) =>
      json(response, errorOf('rate_limit_exceeded'), 429, { 'retry-after': '60' }),
    );
    const { response, record } = await ask(chat());
    expect(response.status).toBe(429);
    expect(record.attempts.map(({ cause }) => cause)).toEqual(['first', 'hedge', 'retry']);
  });
});
