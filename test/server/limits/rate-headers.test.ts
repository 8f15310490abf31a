import { expect, test } from 'vitest';
import { formatDuration } from '../../../server/limits/refusal.ts';

test.each([
  [0, '0s'],
  [0.4, '1ms'],
  [120, '120ms'],
  [1_000, '1s'],
  [7_660, '7.66s'],
  [59_999, '59.999s'],
  [60_000, '1m0s'],
  [360_000, '6m0s'],
  [3_720_000, '1h2m0s'],
])('%d ms is written as %s', (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});
