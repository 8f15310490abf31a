import { expect, test } from 'vitest';
import { errorNameIn, statusOfError } from '../../../../server/apis/core/errors/error-names.ts';
import { failureBy } from '../../../../server/apis/core/errors/verdict.ts';
import { errorIn } from '../../../../server/apis/core/upstream-error.ts';

function classified(status: number, type: string, message: string, headers = {}) {
  return failureBy({ status, headers, error: errorIn({ error: { type, message } }), isAboutJob: false });
}

test.each([
  [400, 'ValidationException', 'Malformed input request', 'rejected', false],
  [400, 'ValidationException', "This model doesn't support tool use.", 'model-unavailable', false],
  [400, 'ValidationException', 'Input is too long for requested model.', 'too-large', false],
  [404, 'ResourceNotFoundException', 'Model not found', 'model-unavailable', false],
  [
    403,
    'AccessDeniedException',
    "You don't have access to the model with the specified model ID.",
    'model-unavailable',
    false,
  ],
  [403, 'AccessDeniedException', 'Authentication failed: Please make sure your API Key is valid.', 'credential', false],
  [403, 'ExpiredTokenException', 'The security token is expired', 'credential', false],
  [429, 'ThrottlingException', 'Too many requests', 'rate-limit', true],
  [429, 'ModelNotReadyException', 'The model is not ready', 'transient', true],
  [424, 'ModelErrorException', 'The model failed', 'transient', true],
  [424, 'ModelStreamErrorException', 'The model broke off', 'transient', true],
  [500, '', '', 'transient', true],
])('%i %s "%s" is %s', (status, type, message, found, retryable) => {
  expect(classified(status, type, message)).toMatchObject({ class: found, retryable });
});

test('a model that the credential may not use may be used with another one', () => {
  const message = "You don't have access to the model with the specified model ID.";
  expect(classified(403, 'AccessDeniedException', message).isDenied).toBe(true);
  expect(classified(404, 'ResourceNotFoundException', 'Model not found')).not.toHaveProperty('isDenied');
});

test('a context that is too long reports the longest one', () => {
  const said = 'prompt is too long: 9001 tokens > 8192 maximum';
  expect(classified(400, 'ValidationException', said)).toMatchObject({ class: 'too-large', contextTokens: 8192 });
});

test('a rate limit reports when to retry', () => {
  expect(classified(429, 'ThrottlingException', 'Later', { 'retry-after': '5' }).retryAfterMs).toBe(5_000);
});

test('the error at the end of a stream is named by its exception', () => {
  const end = 'data: {"error":{"type":"ThrottlingException","message":"\\"type\\":\\"x\\""}}\n\n';
  expect(errorNameIn(end, 'type')).toBe('ThrottlingException');
});

test.each([
  ['ThrottlingException', 429],
  ['ModelStreamErrorException', 424],
  ['SomethingNew', 502],
])('an exception %s within a stream should have had the status %i', (type, status) => {
  expect(statusOfError({ type, code: '' })).toBe(status);
});
