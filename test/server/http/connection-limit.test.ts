import { expect, test } from 'vitest';
import { connectionsWithin } from '../../../server/http/connection-limit.ts';

test('clients leave a quarter of the descriptors to files and providers', () => {
  const limits = (open: string) => `Limit                     Soft Limit           Hard Limit           Units
Max cpu time              unlimited            unlimited            seconds
Max open files            ${open}                4096                 files
Max locked memory         8388608              8388608              bytes
`;
  expect(connectionsWithin(limits('64'))).toBe(48);
  expect(connectionsWithin(limits('1'))).toBe(1);
  expect([connectionsWithin(limits('unlimited')), connectionsWithin('')]).toEqual([undefined, undefined]);
});
