import { expect, test } from 'vitest';
import { releaseChunk } from '../../../../server/http/body/read-body.ts';

test('a chunk that has its memory to itself gives it back', () => {
  const chunk = Buffer.allocUnsafeSlow(64 * 1024);
  const { buffer } = chunk;
  releaseChunk(chunk);
  expect(buffer.byteLength).toBe(0);
  expect(chunk.length).toBe(0);
});

test('a chunk that is part of a larger one stays, and so do the others', () => {
  const whole = Buffer.from(new TextEncoder().encode('first second').buffer);
  releaseChunk(whole.subarray(0, 5));
  releaseChunk(whole.subarray(6));
  expect(whole.toString()).toBe('first second');
});
