import { expect, test } from 'vitest';
import { createRequestId } from '../../../../server/exchange/record/exchange-trace.ts';

test('every request has another id of 32 hexadecimal digits', () => {
  const ids = Array.from({ length: 1_000 }, createRequestId);
  expect(new Set(ids).size).toBe(1_000);
  for (const id of ids) expect(id).toMatch(/^req_[\da-f]{32}$/);
});
