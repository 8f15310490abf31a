import { describe, expect, test } from 'vitest';
import { bearerSecret, presentedKeys } from '../../../server/apis/core/requests/client-credentials.ts';
import { configSchema } from '../../../server/contract/config.ts';
import { authenticate, checkHost, checkOrigin, maskSecret, validKey } from '../../../server/http/guards.ts';
import { compileSnapshot } from '../../../server/routing/compile.ts';
import { createKeySecret } from '../../../server/routing/key-secret.ts';
import { compileSourceRules, loopbackOnly } from '../../../server/routing/snapshot.ts';
import { hashOf } from '../../support/gateway.ts';
import { snapshotOf } from '../../support/providers.ts';

const hosts = (...allowedHosts: string[]) => compileSourceRules({ allowedHosts, allowedOrigins: [] }, null);
const origins = (...allowedOrigins: string[]) => compileSourceRules({ allowedHosts: [], allowedOrigins }, null);

describe('the Host header', () => {
  test.each(['localhost', 'LocalHost:80', 'my-app.localhost', '127.0.0.1', '127.255.0.3:4810', '[::1]', '[::1]:4810'])(
    '%s is loopback',
    (host) => expect(() => checkHost(host, loopbackOnly)).not.toThrow(),
  );

  test.each([
    undefined,
    '',
    'localhost.',
    'localhost.evil.example',
    'evil.localhost.example',
    '127.0.0.1.evil.example',
    '127.0.0.1:80:90',
    '127.0.0',
    '0.0.0.0',
    '[::]',
    '::1',
    'x@localhost',
    'localhost/x',
    'localhost\n',
    '10.0.0.1',
  ])('%j is not', (host) => {
    expect(() => checkHost(host, hosts('nas.local'))).toThrow(expect.objectContaining({ code: 'host_refused' }));
  });

  test('may bear a name that was allowed, or any if all were', () => {
    expect(() => checkHost('nas.local:4810', hosts('nas.local'))).not.toThrow();
    expect(() => checkHost('anything.example', hosts('*'))).not.toThrow();
  });

  test('may bear the public name, which a refusal names', () => {
    const rules = compileSourceRules({ allowedHosts: [], allowedOrigins: [] }, 'https://gateway.example');
    expect(() => checkHost('gateway.example', rules)).not.toThrow();
    expect(() => checkHost('other.example', rules)).toThrow(
      'Host "other.example" is not allowed. Use https://gateway.example as the base URL',
    );
  });
});

describe('the Origin header', () => {
  test.each([undefined, 'http://localhost:4810', 'https://app.example'])('%s may pass', (origin) => {
    expect(() => checkOrigin(origin, 'localhost:4810', origins('https://app.example'))).not.toThrow();
  });

  test.each([
    'null',
    '',
    'https://localhost:4810',
    'http://localhost',
    'https://app.example.evil',
    'http://app.example',
    '*',
  ])('%j may not', (origin) => {
    expect(() => checkOrigin(origin, 'localhost:4810', origins('https://app.example'))).toThrow(
      expect.objectContaining({ code: 'origin_refused' }),
    );
  });
});

test.each([
  ['Bearer abc', 'abc'],
  ['bearer  My API Key ', 'My API Key'],
  ['Bearer', null],
  ['Bearer ', null],
  ['Basic abc', null],
  ['', null],
  [undefined, null],
])('the secret in %j is %j', (header, secret) => expect(bearerSecret(header)).toBe(secret));

describe('a key', () => {
  const secret = createKeySecret();
  const snapshot = compileSnapshot({
    config: configSchema.parse({
      version: 1,
      groups: [{ id: 'default' }],
      keys: [{ id: 'k1', group: 'default', hash: hashOf(secret), expiresAt: '2026-01-01T01:00:00+01:00' }],
    }),
    secrets: new Map(),
    discovered: new Map(),
    demo: null,
    ownAddresses: new Set(),
  });
  const newYear = Date.UTC(2026, 0, 1);

  test('is known until the moment it expires', () => {
    expect(authenticate(snapshot, secret, newYear - 1).id).toBe('k1');
    expect(() => authenticate(snapshot, secret, newYear)).toThrow(expect.objectContaining({ code: 'key_expired' }));
  });

  test('is known by the secret before a rotation until the moment its grace period ends', () => {
    const previous = { hash: hashOf('sk-sluice-before'), until: '2025-12-01T00:00:00Z' };
    const rotated = compileSnapshot({
      config: configSchema.parse({
        version: 1,
        groups: [{ id: 'default' }],
        keys: [{ id: 'k1', group: 'default', hash: hashOf(secret), previous }],
      }),
      secrets: new Map(),
      discovered: new Map(),
      demo: null,
      ownAddresses: new Set(),
    });
    const untilMs = Date.parse(previous.until);
    expect(authenticate(rotated, 'sk-sluice-before', untilMs - 1).id).toBe('k1');
    expect(validKey(rotated, 'sk-sluice-before', untilMs - 1)?.id).toBe('k1');
    // Even if it was cached as valid before.
    expect(() => authenticate(rotated, 'sk-sluice-before', untilMs)).toThrow(
      expect.objectContaining({ code: 'invalid_key' }),
    );
    expect(validKey(rotated, 'sk-sluice-before', untilMs)).toBe(null);
    expect(authenticate(rotated, secret, untilMs).id).toBe('k1');
  });

  test('is not known by its name, its hash or a part of it', () => {
    for (const wrong of ['k1', hashOf(secret), secret.slice(0, -1), `${secret}x`, secret.toUpperCase()]) {
      expect(() => authenticate(snapshot, wrong, 0)).toThrow(expect.objectContaining({ code: 'invalid_key' }));
    }
  });
});

describe('a key with letters beyond ASCII', () => {
  const secret = '  ключ ü à ';
  const snapshot = snapshotOf(
    {
      groups: [{ id: 'g' }],
      keys: [
        { id: 'plain', group: 'g', secret: 'env:A' },
        { id: 'latin', group: 'g', secret: 'env:B' },
      ],
    },
    { secrets: { 'key/plain': secret, 'key/latin': 'schlüssel' } },
  );
  const keyOf = (received: string) =>
    authenticate(snapshot, presentedKeys({ authorization: `Bearer ${received}` }, '')[0], 0).id;

  test('is known by the bytes of UTF-8, as curl sends them, with or without the spaces at its ends', () => {
    expect(keyOf(Buffer.from(secret).toString('latin1'))).toBe('plain');
    expect(keyOf(Buffer.from(secret.trim()).toString('latin1'))).toBe('plain');
    expect(keyOf(Buffer.from('schlüssel').toString('latin1'))).toBe('latin');
  });

  test('is known in latin1, as fetch sends it', () => expect(keyOf('schlüssel')).toBe('latin'));

  test('ends where its last letter does', () => {
    const snapshotOfOne = snapshotOf({ groups: [{ id: 'g' }], keys: [{ id: 'k', group: 'g', hash: hashOf('à') }] });
    // The last byte of this letter is a non-breaking space in latin1.
    expect(authenticate(snapshotOfOne, Buffer.from('à').toString('latin1'), 0).id).toBe('k');
  });

  test('is not known by another', () => {
    for (const wrong of ['schlussel', 'schlüsse', 'ключ ü']) {
      expect(() => keyOf(wrong)).toThrow(expect.objectContaining({ code: 'invalid_key' }));
    }
  });
});

test.each([
  ['sk-sluice-0123456789abcdef', 'sk-sluice-********cdef'],
  ['sk-proj-0123456789abcdef', 'sk-********cdef'],
  ['0123456789012345678', '********'],
  ['', '********'],
])('%s is told as %s', (secret, masked) => expect(maskSecret(secret)).toBe(masked));
