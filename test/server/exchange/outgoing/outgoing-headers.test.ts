import { describe, expect, test } from 'vitest';
import { configSchema } from '../../../../server/contract/config.ts';
import { checkHops, outgoingHeaders, passableHeaders } from '../../../../server/exchange/outgoing/outgoing-request.ts';
import { compileSnapshot } from '../../../../server/routing/compile.ts';

const config = configSchema.parse({
  version: 1,
  providers: [
    {
      id: 'main',
      baseUrl: 'https://api.example/v1',
      credentials: [{ id: 'c1' }],
      headers: { 'X-Team': 'blue', 'User-Agent': 'Sluice' },
    },
  ],
});
const snapshot = compileSnapshot({
  config,
  secrets: new Map([['provider/main/c1', 'upstream-secret']]),
  discovered: new Map(),
  demo: null,
  ownAddresses: new Set(),
});
const provider = snapshot.providers.get('main');
if (!provider) throw new Error('The provider is missing.');
const credential = provider.credentials[0] ?? null;
const key = 'sk-sluice-0123456789';
const outgoing = (headers: Record<string, string>) =>
  outgoingHeaders(passableHeaders(headers, [key]), provider, credential);

describe('headers to an upstream', () => {
  test('are the client’s own, then the provider’s, then the credential’s', () => {
    expect(outgoing({ 'openai-beta': 'a', 'user-agent': 'curl', authorization: 'Bearer mine' })).toEqual({
      'openai-beta': 'a',
      'user-agent': 'Sluice',
      'x-team': 'blue',
      authorization: 'Bearer upstream-secret',
      'accept-encoding': 'identity',
      'x-sluice-hops': '1',
    });
  });

  test('lose what the connection header names', () => {
    const headers = outgoing({ connection: 'close, X-Private', 'x-private': 'a', private: 'b' });
    expect([headers['x-private'], headers.private, headers.connection]).toEqual([undefined, 'b', undefined]);
  });

  test('of a provider without credentials carry none', () => {
    expect(
      outgoingHeaders(passableHeaders({ authorization: 'Bearer mine' }, []), provider, null).authorization,
    ).toBeUndefined();
  });

  test.each([
    'authorization',
    'proxy-authorization',
    'x-authorization',
    'cookie',
    'api-key',
    'apikey',
    'x-api-key',
    'x-goog-api-key',
    'x-litellm-api-key',
    'x-openai-api-key',
    'ocp-apim-subscription-key',
    'x-functions-key',
    'x-auth-token',
    'x-auth-key',
    'x-access-token',
    'x-amz-security-token',
    'x-goog-iam-authorization-token',
    'x-vault-token',
    'x-portkey-virtual-key',
    'x-client-secret',
    'helicone-auth',
  ])('lose %s, which carries a credential whatever it holds', (name) => {
    expect(Object.values(outgoing({ [name]: 'mine' }))).not.toContain('mine');
  });

  test.each([
    key,
    `Token ${key}`,
    `https://example/?k=${key}`,
    key.replaceAll('-', '%2D'),
    `Basic ${Buffer.from(`me:${key}`).toString('base64')}`,
    `{"key":"${key.replace('s', '\\u0073')}"}`,
  ])('lose any header whose value contains the key: %s', (value) => {
    expect(outgoing({ 'x-note': value })).not.toHaveProperty('x-note');
  });

  test.each([
    ['idempotency-key', 'retry-1'],
    ['x-idempotency-key', 'retry-1'],
    ['x-prompt-cache-key', 'talk-1'],
    ['x-client-request-id', 'mine'],
    ['x-stainless-arch', 'x64'],
    ['openai-beta', 'assistants=v2'],
    ['x-title', 'A tool'],
    ['traceparent', '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'],
    ['accept', '*/*'],
    ['x-other-key-id', 'sk-sluice-0123'],
  ])('keep %s', (name, value) => expect(outgoing({ [name]: value })).toHaveProperty(name, value));

  test.each(['content-encoding', 'x-http-method-override', 'x-original-url'])(
    'lose %s, which could change the meaning of the admitted request',
    (name) => expect(outgoing({ [name]: 'gzip' })).not.toHaveProperty(name),
  );

  test('keep what the provider was configured with, whatever it is called', () => {
    const own = { ...provider, headers: { 'x-api-key': 'of-the-provider', 'x-note': key } };
    const headers = outgoingHeaders(passableHeaders({ 'x-api-key': 'mine', 'x-note': 'mine' }, [key]), own, null);
    expect(headers).toMatchObject({ 'x-api-key': 'of-the-provider', 'x-note': key });
  });

  test('count the hops', () => {
    expect(outgoing({ 'x-sluice-hops': '2' })['x-sluice-hops']).toBe('3');
    expect(outgoing({ 'x-sluice-hops': 'x' })['x-sluice-hops']).toBe('1');
    expect(() => checkHops({ 'x-sluice-hops': '3' })).not.toThrow();
    expect(() => checkHops({ 'x-sluice-hops': '4' })).toThrow(/several times/);
  });
});
