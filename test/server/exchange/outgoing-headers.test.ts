import { describe, expect, test } from 'vitest';
import { configSchema } from '../../../server/contract/config.ts';
import { checkHops, outgoingHeaders } from '../../../server/exchange/outgoing-headers.ts';
import { compileSnapshot } from '../../../server/routing/compile.ts';

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
  revision: 1,
  secrets: new Map([['provider/main/c1', 'upstream-secret']]),
  discovered: new Map(),
  demo: null,
  ownAddresses: new Set(),
});
const provider = snapshot.providers.get('main');
if (!provider) throw new Error('The provider is missing.');
const credential = provider.credentials[0] ?? null;
const outgoing = (headers: Record<string, string>) => outgoingHeaders(headers, provider, credential);

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
    expect(outgoingHeaders({ authorization: 'Bearer mine' }, provider, null).authorization).toBeUndefined();
  });

  test('count the hops', () => {
    expect(outgoing({ 'x-sluice-hops': '2' })['x-sluice-hops']).toBe('3');
    expect(outgoing({ 'x-sluice-hops': 'x' })['x-sluice-hops']).toBe('1');
    expect(() => checkHops({ 'x-sluice-hops': '3' })).not.toThrow();
    expect(() => checkHops({ 'x-sluice-hops': '4' })).toThrow(/several times/);
  });
});
