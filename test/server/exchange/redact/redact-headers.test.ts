import { expect, test } from 'vitest';
import { redactHeaders } from '../../../../server/exchange/redact/redact-credential.ts';

const kept = (headers: Record<string, string | string[]>) =>
  Object.fromEntries(redactHeaders(headers, ['planted-secret']));

test.each([
  'authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'api-key',
  'x-api-key',
  'x-goog-api-key',
  'ocp-apim-subscription-key',
  'x-auth-user',
  'X-Csrf-Token',
  'x-amz-security-token',
  'x-client-secret',
  'x-signature',
  'helicone-auth',
])('%s is recorded without its value', (name) => {
  expect(kept({ [name]: 'planted' })).toEqual({ [name]: '[redacted]' });
});

test.each([
  ['user-agent', 'OpenAI/Python 2.1'],
  ['x-ratelimit-remaining-tokens', '1499'],
  ['idempotency-key', 'retry-1'],
  ['openai-organization', 'org-1'],
  ['x-stainless-arch', 'x64'],
  ['content-type', 'multipart/form-data; boundary=x'],
])('%s is recorded as it is', (name, value) => {
  expect(kept({ [name]: value })).toEqual({ [name]: value });
});

test.each([
  ['Bearer planted.token, and more', '[redacted], and more'],
  ['key sk-planted-0123456789', 'key [redacted]'],
  ['echo of planted-secret', 'echo of [redacted]'],
  ['https://me:pass@host/x?sig=planted&y=1', 'https://[redacted]@host/x?[redacted]'],
  ['eyJhbGciOi.eyJzdWIi.c2ln', '[redacted]'],
])('a credential is removed from any header: %s', (value, told) => {
  expect(kept({ 'x-note': value })).toEqual({ 'x-note': told });
});

test('each value of a header is recorded, shortened if it is long', () => {
  const headers = redactHeaders({ vary: ['a', 'b'], 'x-long': 'x'.repeat(5_000), gone: undefined }, []);
  expect(headers.map(([name, value]) => [name, value.length])).toEqual([
    ['vary', 1],
    ['vary', 1],
    ['x-long', 2_000],
  ]);
});

test('a credential is also removed where a value is shortened', () => {
  const [kept] = redactHeaders({ 'x-note': `${'x'.repeat(1_900)} eyJ${'a'.repeat(3_000)}.${'b'.repeat(3_000)}.c` }, []);
  expect(kept?.[1]).toBe(`${'x'.repeat(1_900)} [redacted]`);
});
