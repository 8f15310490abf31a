import { describe, expect, test } from 'vitest';
import { readError } from '../../../server/apis/core/errors/error-body.ts';
import { statusOfError } from '../../../server/apis/core/errors/error-names.ts';
import { toldWaitMs } from '../../../server/apis/core/errors/told-wait.ts';
import { failureBy } from '../../../server/apis/core/errors/verdict.ts';
import { errorIn } from '../../../server/apis/core/upstream-error.ts';
import type { FailureClass } from '../../../server/contract/ledger.ts';
import { classifyTransport } from '../../../server/routing/attempt-result.ts';
import { TransportError, type TransportFault, type TransportPhase } from '../../../server/transport/transport-error.ts';

const openAi = (code: string | null, more: object = {}) =>
  JSON.stringify({ error: { message: 'What it says.', type: 'invalid_request_error', param: null, code, ...more } });
const google = (code: number, status: string, details: object[] = []) =>
  JSON.stringify([
    { error: { code, message: 'Quota exceeded; check your plan and billing details.', status, details } },
  ]);
const anthropic = (type: string, message = 'x') =>
  JSON.stringify({ type: 'error', error: { type, message }, request_id: 'r' });

function classOf(status: number, body = '', more: { headers?: Record<string, string>; isAboutJob?: boolean } = {}) {
  const { error, isPage } = readError(Buffer.from(body));
  return failureBy({ status, error, isPage, headers: {}, isAboutJob: false, ...more });
}

describe('an answer is', () => {
  test.each<[FailureClass, number, string]>([
    ['transient', 408, ''],
    ['transient', 409, openAi(null)],
    ['transient', 500, openAi('server_error')],
    ['transient', 502, '<html>Bad gateway</html>'],
    ['transient', 503, ''],
    ['transient', 504, ''],
    ['transient', 529, anthropic('overloaded_error')],
    ['rate-limit', 429, ''],
    ['rate-limit', 429, openAi('rate_limit_exceeded', { type: 'requests' })],
    ['rate-limit', 429, openAi('slow_down')],
    ['rate-limit', 429, google(429, 'RESOURCE_EXHAUSTED', [{ '@type': 'x', retryDelay: '34.4s' }])],
    ['quota', 429, google(429, 'RESOURCE_EXHAUSTED')],
    ['quota', 429, openAi('insufficient_quota', { type: 'insufficient_quota' })],
    ['quota', 429, openAi('credit_balance_exhausted')],
    ['quota', 402, ''],
    ['quota', 402, JSON.stringify({ error: { message: 'Insufficient Balance', code: 'invalid_request_error' } })],
    ['quota', 400, anthropic('invalid_request_error', 'Your credit balance is too low to access the API.')],
    ['credential', 401, openAi('invalid_api_key')],
    ['credential', 401, ''],
    [
      'credential',
      400,
      JSON.stringify([{ error: { code: 400, message: 'API key not valid. Please pass a valid API key.' } }]),
    ],
    ['credential', 400, JSON.stringify({ code: 'x', error: 'Incorrect API key provided: xa***.' })],
    ['credential', 403, anthropic('permission_error')],
    ['rejected', 403, openAi('content_policy_violation')],
    ['rejected', 403, JSON.stringify({ error: { code: 403, message: 'Your input was flagged', metadata: {} } })],
    ['model-unavailable', 403, openAi('unsupported_country_region_territory')],
    // From GitHub Models.
    [
      'model-unavailable',
      403,
      JSON.stringify({ error: { code: 'no_access', message: 'No access to model: openai/o3' } }),
    ],
    ['model-unavailable', 404, openAi('model_not_found')],
    ['model-unavailable', 400, openAi('model_not_found', { param: 'model' })],
    ['model-unavailable', 404, JSON.stringify({ error: { code: 'DeploymentNotFound', message: 'no deployment' } })],
    ['model-unavailable', 404, '<html>nginx</html>'],
    ['model-unavailable', 404, ''],
    ['model-unavailable', 405, ''],
    ['model-unavailable', 501, ''],
    ['rejected', 404, openAi('not_found', { param: 'file_id', message: 'No such file.' })],
    ['too-large', 400, openAi('context_length_exceeded', { param: 'messages' })],
    ['too-large', 400, anthropic('invalid_request_error', 'prompt is too long: 210000 tokens > 200000 maximum')],
    ['too-large', 413, JSON.stringify({ error: 'input exceeds the maximum context' })],
    ['model-unavailable', 413, openAi('rate_limit_exceeded', { type: 'tokens' })],
    [
      'rejected',
      413,
      openAi(null, { type: 'server_error', message: 'Maximum content size limit (26214400) exceeded' }),
    ],
    ['rejected', 400, openAi('invalid_value')],
    ['rejected', 400, openAi('content_policy_violation')],
    ['rejected', 400, openAi(null, { type: 'image_generation_user_error', code: 'moderation_blocked' })],
    ['rejected', 422, JSON.stringify({ detail: [{ msg: 'Extra inputs are not permitted' }] })],
    ['rejected', 416, ''],
    ['rejected', 508, openAi('loop_detected')],
  ])('%s: %i %.90s', (wanted, status, body) => expect(classOf(status, body).class).toBe(wanted));

  test.each([
    JSON.stringify({ error: { message: 'Unknown route' } }),
    JSON.stringify({ error: { message: 'Unknown request URL: POST /v1/embeddings.', code: 'unknown_url' } }),
    openAi(null, { message: 'Invalid URL (POST /v1/embeddings)' }),
    openAi('not_found', { message: 'The path /v1/embeddings was not found on this server.' }),
    JSON.stringify({ detail: 'Not Found' }),
    JSON.stringify({ status: 404, message: 'Cannot POST /v1/embeddings' }),
    '404 page not found',
  ])('about a route that only this provider lacks, not the model: 404 %s', (body) => {
    expect(classOf(404, body)).toMatchObject({ class: 'rejected', isOnlyHere: true });
  });

  test.each(['No endpoints found for a/b.', 'The path of the model was not found'])(
    'about the model: 404 %s',
    (message) => {
      expect(classOf(404, JSON.stringify({ error: { message, code: 404 } })).class).toBe('model-unavailable');
    },
  );

  test('about a job where the request names one', () => {
    const isAboutJob = true;
    expect(classOf(404, openAi(null), { isAboutJob }).class).toBe('rejected');
    expect(classOf(409, openAi(null), { isAboutJob }).class).toBe('rejected');
    expect(classOf(503, '', { isAboutJob }).class).toBe('transient');
  });

  test('not worth another try at the same place where it says so, or cannot change', () => {
    expect(classOf(503).retryable).toBe(true);
    expect(classOf(429).retryable).toBe(true);
    expect(classOf(503, '', { headers: { 'x-should-retry': 'false' } }).retryable).toBe(false);
    for (const status of [400, 401, 402, 404, 413]) expect(classOf(status).retryable).toBe(false);
  });

  test('too large for a model of a size that it tells', () => {
    const message = "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens";
    expect(classOf(400, openAi('context_length_exceeded', { message })).contextTokens).toBe(8192);
    expect(classOf(400, openAi('context_length_exceeded'))).not.toHaveProperty('contextTokens');
  });
});

describe('the wait that is told', () => {
  const nowMs = Date.parse('2026-11-20T12:00:00Z');
  test.each<[Record<string, string>, number | null]>([
    [{}, null],
    [{ 'retry-after': '3' }, 3_000],
    [{ 'retry-after': '0' }, 0],
    [{ 'retry-after': '1.5' }, 1_500],
    [{ 'retry-after-ms': '250', 'retry-after': '3' }, 250],
    [{ 'retry-after-ms': '', 'retry-after': '3' }, 3_000],
    [{ 'retry-after-ms': '' }, null],
    [{ 'retry-after': 'Fri, 20 Nov 2026 12:00:07 GMT' }, 7_000],
    [{ 'retry-after': 'Fri, 20 Nov 2026 11:00:00 GMT' }, 0],
    [{ 'retry-after': 'soon' }, null],
    [{ 'retry-after': '' }, null],
    [{ 'retry-after': '-5' }, 0],
    [{ 'retry-after': '2, 5' }, 5_000],
    [{ 'retry-after': '7,2' }, 7_000],
    [{ 'retry-after-ms': '20, 300' }, 300],
    [{ 'retry-after': 'x, 5' }, 5_000],
    [{ 'x-ratelimit-reset-requests': '30s' }, null],
  ])('%j', (headers, wanted) => expect(toldWaitMs(headers, false, nowMs)).toBe(wanted));

  test.each<[Record<string, string>, number | null]>([
    [{ 'x-ratelimit-reset-requests': '1s', 'x-ratelimit-remaining-requests': '0' }, 1_000],
    [{ 'x-ratelimit-reset-requests': '120ms' }, 120],
    [{ 'x-ratelimit-reset-tokens': '6m0s' }, 360_000],
    [{ 'x-ratelimit-reset-tokens': '1h2m3.5s' }, 3_723_500],
    [{ 'x-ratelimit-reset-requests': '1s', 'x-ratelimit-remaining-requests': '3' }, null],
    [{ 'x-ratelimit-reset-requests': '1s', 'x-ratelimit-reset-tokens': '2s' }, 2_000],
    [
      {
        ...{ 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '1s' },
        ...{ 'x-ratelimit-remaining-tokens': '5', 'x-ratelimit-reset-tokens': '9m' },
      },
      1_000,
    ],
    [{ 'anthropic-ratelimit-requests-reset': '2026-11-20T12:00:04Z' }, 4_000],
    [{ 'anthropic-ratelimit-requests-reset': '2026-11-20T11:00:00Z' }, 0],
    [{ 'x-ratelimit-reset': String(nowMs + 5_000) }, 5_000],
    [{ 'x-ratelimit-reset': String((nowMs + 5_000) / 1000) }, 5_000],
    [{ 'ratelimit-reset': '12' }, 12_000],
    [{ 'ratelimit-reset': 'soon' }, null],
    [{ 'ratelimit-reset': '' }, null],
    [{ 'retry-after': '3', 'x-ratelimit-reset-requests': '9s' }, 3_000],
  ])('of a limit is %j', (headers, wanted) => expect(toldWaitMs(headers, true, nowMs)).toBe(wanted));

  test('stands in Google’s details too', () => {
    expect(classOf(429, google(429, 'RESOURCE_EXHAUSTED', [{ retryDelay: '34.4s' }])).retryAfterMs).toBe(34_400);
  });
});

test.each<[FailureClass, boolean, TransportFault, TransportPhase]>([
  ['transient', true, 'refused', 'connect'],
  ['transient', true, 'reset', 'headers'],
  ['transient', true, 'reset', 'body'],
  ['transient', true, 'dns', 'connect'],
  ['transient', true, 'malformed', 'headers'],
  ['transient', false, 'tls', 'connect'],
  ['transient', false, 'proxy', 'connect'],
  ['transient', false, 'timeout', 'connect'],
  ['silent', false, 'timeout', 'headers'],
  ['silent', false, 'timeout', 'body'],
])('a connection is %s (again: %s) after `%s` in %s', (wanted, retryable, fault, phase) => {
  expect(classifyTransport(new TransportError(fault, phase, 'x'))).toMatchObject({ class: wanted, retryable });
});

test.each<[number, object]>([
  [429, { code: 429, message: 'x' }],
  [503, { code: 'server_is_overloaded' }],
  [529, { type: 'overloaded_error' }],
  [429, { code: 'rate_limit_exceeded' }],
  [429, { code: 'insufficient_quota' }],
  [401, { type: 'authentication_error' }],
  [404, { type: 'not_found_error' }],
  [400, { type: 'invalid_request_error' }],
  [500, { type: 'server_error' }],
  [502, { message: 'odd' }],
  [502, { code: 7 }],
])('an error that came with a 200 should have been %i: %j', (status, error) => {
  const read = errorIn({ error });
  expect(read && statusOfError(read)).toBe(status);
});

const codesOfRequests = [
  'bio_policy',
  'cyber_policy',
  'data_residency_mismatch',
  'image_content_policy_violation',
  'invalid_prompt',
  'invalid_image',
  'invalid_image_format',
  'invalid_base64_image',
  'invalid_image_url',
  'invalid_image_mode',
  'image_too_large',
  'image_too_small',
  'image_parse_error',
  'image_file_too_large',
  'image_file_not_found',
  'unsupported_image_media_type',
  'empty_image_file',
  'failed_to_download_image',
];

test.each(codesOfRequests)('%s is the fault of the request, with any status or none', (code) => {
  const error = errorIn({ type: 'response.failed', response: { error: { code, message: 'x' } } });
  expect(error && statusOfError(error)).toBe(400);
  for (const status of [400, 403, 404, 413, 500]) {
    expect(classOf(status, JSON.stringify({ error: { code, message: 'x' } })).class).toBe('rejected');
  }
});

test.each<[number, object]>([
  [400, { code: 'internal_tool_timeout', type: 'invalid_request_error' }],
  [400, { code: 'never_heard_of', type: 'invalid_request_error' }],
  [500, { code: 'server_error', type: 'invalid_request_error' }],
  [503, { code: 'server_is_overloaded', type: 'invalid_request_error' }],
  [404, { code: 'model_not_found', type: 'invalid_request_error' }],
  [401, { code: 'invalid_api_key', type: 'invalid_request_error' }],
  [502, { code: 'never_heard_of' }],
  [504, { code: 'vector_store_timeout' }],
])('a code is read with its type: %i for %j', (status, error) => {
  const read = errorIn({ error: { message: 'x', ...error } });
  expect(read && statusOfError(read)).toBe(status);
});

test('what a long message says at its beginning tells what kind of failure it is', () => {
  const said = "This model's maximum context length is 8192 tokens.";
  const body = (message: string) => JSON.stringify({ error: { message, type: 'invalid_request_error' } });
  expect(classOf(400, body(`${said} You sent: ${'exceed'.repeat(30_000)}`))).toMatchObject({
    class: 'too-large',
    contextTokens: 8192,
  });
  expect(classOf(400, body(`${'exceed'.repeat(30_000)} ${said}`)).class).toBe('rejected');
});
