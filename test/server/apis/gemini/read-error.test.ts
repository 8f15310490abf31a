import { expect, test } from 'vitest';
import { errorNameIn, statusOfError } from '../../../../server/apis/core/errors/error-names.ts';
import { failureBy } from '../../../../server/apis/core/errors/verdict.ts';
import { errorIn } from '../../../../server/apis/core/upstream-error.ts';

const google = 'type.googleapis.com/google.rpc';
const retry = { '@type': `${google}.RetryInfo`, retryDelay: '34.4s' };
const quota = (quotaId: string) => ({ '@type': `${google}.QuotaFailure`, violations: [{ quotaId }] });

function classified(error: object, headers = {}) {
  const body = { error: { code: 429, status: 'RESOURCE_EXHAUSTED', message: 'Quota exceeded', ...error } };
  return failureBy({ status: 429, headers, error: errorIn(body), isAboutJob: false });
}

test('a rate limit reports when to retry', () => {
  expect(classified({ details: [quota('RequestsPerMinutePerProject'), retry] })).toEqual({
    class: 'rate-limit',
    retryable: true,
    retryAfterMs: 34_400,
  });
  expect(classified({}, { 'retry-after': '5' }).retryAfterMs).toBe(5_000);
  expect(classified({}, { 'retry-after': '' }).retryAfterMs).toBeNull();
  expect(classified({}).retryAfterMs).toBeNull();
});

test('a daily quota lasts longer than the wait reported with it', () => {
  const found = classified({ details: [quota('GenerateRequestsPerDayPerProjectPerModel-FreeTier'), retry] });
  expect(found).toMatchObject({ class: 'rate-limit', retryAfterMs: 3_600_000 });
});

test.each([
  ['INVALID_ARGUMENT', '', 400],
  ['NOT_FOUND', '404', 404],
  ['UNAVAILABLE', '', 503],
  ['SOMETHING_NEW', '', 502],
  ['SOMETHING_NEW', '418', 418],
])('an error %s with the code %j should have had the status %i', (type, code, status) => {
  expect(statusOfError({ type, code })).toBe(status);
});

test('the error at the end of a stream is named by its status', () => {
  const end = 'data: {"error":{"code":503,"message":"\\"status\\":\\"x\\"","status":"UNAVAILABLE"}}\r\n\r\n';
  expect(errorNameIn(end, 'status')).toBe('UNAVAILABLE');
  expect(errorNameIn('data: {}', 'status')).toBeNull();
});
