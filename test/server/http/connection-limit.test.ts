import { expect, test } from 'vitest';
import { connectionsWithin, runningWithin } from '../../../server/http/server.ts';

test('clients leave a quarter of the descriptors to files and providers', () => {
  expect([connectionsWithin(64), connectionsWithin(1)]).toEqual([48, 1]);
});

test('each running request has two of the descriptors that are not reserved', () => {
  expect([runningWithin(256), runningWithin(1_024), runningWithin(20)]).toEqual([96, 480, 1]);
  expect(runningWithin(null)).toBe(Number.POSITIVE_INFINITY);
});
