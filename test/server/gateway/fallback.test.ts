import type http from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { damagedGzip } from '../../../server/faults/shape-response.ts';
import { json, type Script } from '../../support/upstream.ts';
import { ask, errorOf, good, plain, policy, startFallback, startTwo, type TwoUpstreams } from './two-upstreams.ts';

let both: TwoUpstreams;

beforeEach(async () => {
  both = await startFallback();
});

afterEach(() => both.stop());

const bytes =
  (body: Buffer, headers: http.OutgoingHttpHeaders): Script =>
  (_request, response) =>
    void response.writeHead(200, { 'content-length': body.length, ...headers }).end(body);

describe('an invalid answer is replaced by that of the next target', () => {
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
    const { response, text, record } = await ask(both);
    expect([response.status, JSON.parse(text)]).toEqual([200, good]);
    expect(response.headers.get('x-sluice-provider')).toBe('two');
    expect(response.headers.get('x-sluice-attempts')).toBe(String(record.attempts.length));
    expect(record).toMatchObject({ outcome: 'ok', provider: 'two', errorCode: null });
    expect(record.attempts.at(-1)).toMatchObject({ cause: 'fallback', failure: null });
    expect(record.attempts[0]?.failure).not.toBeNull();
    expect(both.one.seen.length).toBeLessThanOrEqual(2);
  });

  test('sound with damaged compression is replaced by that of the next target', async () => {
    const damaged = damagedGzip(Buffer.alloc(4_000, 'sound'));
    both.one.answer(bytes(damaged, { 'content-type': 'audio/mpeg', 'content-encoding': 'gzip' }));
    both.two.answer(
      (_request, response) => void response.writeHead(200, { 'content-type': 'audio/mpeg' }).end('heard'),
    );
    const speech = { ...plain, body: '{"model":"gpt-x","input":"Hello","voice":"alloy"}' };
    const { response, text } = await ask(both, speech, '/audio/speech');
    expect([response.status, text, response.headers.get('x-sluice-provider')]).toEqual([200, 'heard', 'two']);
  });

  test('a compressed one that is whole passes as it came', async () => {
    both.one.answer(
      bytes(gzipSync(JSON.stringify(good)), { 'content-type': 'application/json', 'content-encoding': 'gzip' }),
    );
    const { response, text } = await ask(both);
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
    const { response, text, record } = await ask(both);
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
    const { response, text, record } = await ask(both);
    expect([response.status, response.headers.get('x-should-retry')]).toEqual([502, 'false']);
    const told = JSON.parse(text).error;
    expect(told).toMatchObject({ type: 'server_error', code, message: expect.stringContaining('Provider "one"') });
    expect(told.message).toMatch(/Set a valid one|set a credential of another account/);
    expect(text + JSON.stringify([...response.headers])).not.toContain('secret-of-one');
    expect(record).toMatchObject({ status: 502, errorCode: code });
  });

  test('is not seen by the client if another target answers', async () => {
    both.one.answer((_request, response) => json(response, { error: showsSecret }, 401));
    expect((await ask(both)).response.status).toBe(200);
  });

  test('says of a provider without a credential that it needs one', async () => {
    await both.stop();
    both = await startTwo({ fallbacks: 0 }, { two: { credentials: [] } });
    both.two.answer((_request, response) => json(response, { error: showsSecret }, 401));
    const { text } = await ask(both, { ...plain, body: '{"model":"two/gpt-x","messages":[]}' });
    expect(JSON.parse(text).error.message).toContain('requires a credential and has none');
  });

  test('with 429 insufficient_quota is relayed, for SDKs know it', async () => {
    const body = errorOf('insufficient_quota');
    for (const one of [both.one, both.two]) one.answer((_request, response) => json(response, body, 429));
    const { response, text } = await ask(both);
    expect([response.status, response.headers.get('x-should-retry'), JSON.parse(text)]).toEqual([429, 'false', body]);
  });
});

test('if all fail, the most informative answer is relayed, and the ledger lists each attempt', async () => {
  const limited = errorOf('rate_limit_exceeded');
  both.one.answer((_request, response) =>
    json(response, limited, 429, { 'retry-after': '60', 'x-request-id': 'of one' }),
  );
  both.two.answer((_request, response) => void response.destroy());
  const { response, text, record } = await ask(both);
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
  const { response, text } = await ask(both);
  expect([response.status, response.headers.get('retry-after'), JSON.parse(text)]).toEqual([429, '35', told]);
});

test('a short requested wait is observed', async () => {
  let first = 0;
  both.one.answer((_request, response) => {
    if (first === 0) {
      first = performance.now();
      json(response, errorOf('slow_down'), 429, { 'retry-after-ms': '300' });
    } else json(response, { ...good, waitedMs: performance.now() - first });
  });
  expect(JSON.parse((await ask(both)).text).waitedMs).toBeGreaterThanOrEqual(299);
  expect(both.two.seen).toHaveLength(0);
});

test('the headers about attempts can be switched off', async () => {
  const quiet = await startTwo(policy, { config: { settings: { replyHeaders: false } } });
  const response = await quiet.gateway.fetch('/chat/completions', plain);
  await response.text();
  expect([...response.headers.keys()].filter((name) => name.startsWith('x-sluice'))).toEqual(['x-sluice-request-id']);
  await quiet.stop();
});
