import { expect, test } from 'vitest';
import { sseFraming } from '../../../../server/apis/core/sse-framing.ts';
import { clientHeaders, isEventStream } from '../../../../server/exchange/answer/client-response.ts';

const sse = { framing: sseFraming, request: { host: '127.0.0.1:4810' } };

test('only headers on the list pass', () => {
  const upstream = {
    'content-type': 'application/json',
    'content-length': '2',
    'x-ratelimit-reset-tokens': '6m0s',
    'openai-version': '2020-10-01',
    'set-cookie': ['a=b'],
    server: 'x',
    connection: 'close',
    'transfer-encoding': 'chunked',
    location: 'https://x',
    'x-ratelimited': '1',
  };
  expect(clientHeaders(upstream, 'req_1', sse)).toEqual({
    'content-type': 'application/json',
    'content-length': '2',
    'x-ratelimit-reset-tokens': '6m0s',
    'openai-version': '2020-10-01',
    'x-request-id': 'req_1',
    'x-sluice-request-id': 'req_1',
  });
});

test.each([
  'ratelimit',
  'ratelimit-policy',
  'ratelimit-remaining',
  'x-ratelimit-limit-requests',
  'x-ratelimitbysize-limit-tokens',
  'x-rate-limit-reset',
  'anthropic-ratelimit-tokens-remaining',
])('the rate limit %s passes', (name) => expect(clientHeaders({ [name]: '1' }, 'req_1', sse)[name]).toBe('1'));

test.each(['x-ratelimited', 'ratelimited', 'anthropic-organization-id'])('%s does not pass', (name) => {
  expect(clientHeaders({ [name]: '1' }, 'req_1', sse)).not.toHaveProperty(name);
});

test('the upstream’s request id passes beside ours', () => {
  expect(clientHeaders({ 'x-request-id': 'req_up' }, 'req_1', sse)).toEqual({
    'x-request-id': 'req_up',
    'x-sluice-request-id': 'req_1',
  });
});

test('a stream has no length and is neither kept nor collected on the way', () => {
  const headers = { 'content-type': 'text/event-stream', 'content-length': '9', 'cache-control': 'no-store' };
  expect(clientHeaders(headers, 'req_1', sse)).toMatchObject({
    'x-accel-buffering': 'no',
    'cache-control': 'no-store',
  });
  expect(clientHeaders(headers, 'req_1', sse)).not.toHaveProperty('content-length');
  expect(clientHeaders({ 'content-type': 'text/event-stream; charset=utf-8' }, '', sse)['cache-control']).toBe(
    'no-cache',
  );
  expect(isEventStream({ 'content-type': 'application/json' }, sseFraming)).toBe(false);
  expect(isEventStream({ 'content-type': 'Text/Event-Stream;charset=utf-8' }, sseFraming)).toBe(true);
});

test.each(['https://api.example/v1/realtime/calls/rtc_1', '//api.example/x', '/\\api.example'])(
  'a location elsewhere does not pass: %s',
  (location) => expect(clientHeaders({ location }, 'req_1', sse)).not.toHaveProperty('location'),
);

test('the path of what was made passes', () => {
  const location = '/v1/realtime/calls/rtc_1';
  expect(clientHeaders({ location }, 'req_1', sse)).toHaveProperty('location', location);
});

test.each([
  [{ host: '127.0.0.1:4810' }, 'http://127.0.0.1:4810/upload/v1beta/files?upload_id=u1'],
  [{ host: 'sluice.example', 'x-forwarded-proto': 'https' }, 'https://sluice.example/upload/v1beta/files?upload_id=u1'],
])('uploads continue at the address that was called: %j', (request, expected) => {
  const headers = { 'x-goog-upload-url': 'https://google.example/upload/v1beta/files?upload_id=u1' };
  expect(clientHeaders(headers, 'req_1', { ...sse, request })['x-goog-upload-url']).toBe(expected);
});
