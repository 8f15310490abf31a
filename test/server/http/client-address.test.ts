import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { TrustedProxies } from '../../../server/http/client-address.ts';

const from = (remoteAddress: string, forwarded?: string) =>
  ({ socket: { remoteAddress }, headers: { 'x-forwarded-for': forwarded } }) as unknown as IncomingMessage;

test.each([
  ['a stranger who names another address', [], from('203.0.113.9', '10.0.0.1'), '203.0.113.9'],
  ['a client of a named proxy', ['10.0.0.0/8'], from('10.0.0.7', '198.51.100.4'), '198.51.100.4'],
  ['a client that forged the beginning', ['10.0.0.7'], from('10.0.0.7', '1.2.3.4, 198.51.100.4'), '198.51.100.4'],
  ['a client of two named proxies', ['10.0.0.0/8'], from('10.0.0.7', '198.51.100.4, 10.1.1.1'), '198.51.100.4'],
  ['a proxy that names nobody', ['10.0.0.0/8'], from('10.0.0.7'), '10.0.0.7'],
  ['a proxy that names no address', ['10.0.0.0/8'], from('10.0.0.7', 'unknown'), '10.0.0.7'],
  ['an IPv4 address in a socket for both', ['10.0.0.7'], from('::ffff:10.0.0.7', '2001:db8::1'), '2001:db8::1'],
])('the address of %s', (_name, proxies, request, address) => {
  expect(new TrustedProxies(proxies).clientOf(request)).toBe(address);
});

test.each(['proxy.example', '10.0.0.0/33', '10.0.0.0/x', '', '::1/129'])('%j is no proxy', (proxy) => {
  expect(() => new TrustedProxies([proxy])).toThrow('neither an IP address nor a network');
});
