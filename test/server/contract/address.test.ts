import { expect, test } from 'vitest';
import { reachableOrigin } from '../../../server/contract/address.ts';

/** The guard refuses `0.0.0.0` as a Host, so it must never be shown as an address. */
test.each([
  ['127.0.0.1', 'http://127.0.0.1:4810'],
  ['0.0.0.0', 'http://127.0.0.1:4810'],
  ['::', 'http://127.0.0.1:4810'],
  ['::1', 'http://[::1]:4810'],
  ['192.168.1.7', 'http://192.168.1.7:4810'],
])('what listens on %s is reached at %s', (host, origin) => {
  expect(reachableOrigin({ host, port: 4810 })).toBe(origin);
});
