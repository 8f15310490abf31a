import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ComparedBytes } from '../../../../server/apis/core/stream-format.ts';

/** Part of a longer buffer, like the data that Node reads. */
function placed(bytes: Uint8Array): ComparedBytes {
  const all = Buffer.concat([Buffer.from('before'), bytes, Buffer.from('after')]);
  return new ComparedBytes(all.subarray(6, 6 + bytes.length));
}

test('bytes are found where they stand, wherever and however many', () => {
  fc.assert(
    fc.property(fc.uint8Array(), fc.uint8Array({ maxLength: 40 }), fc.uint8Array(), (before, others, after) => {
      const all = placed(Buffer.concat([before, others, after]));
      expect(all.hasAt(before.length, placed(others))).toBe(true);
    }),
  );
});

test('one different bit is noticed at every place', () => {
  const others = Buffer.from('twenty-one bytes here');
  for (let bit = 0; bit < others.length * 8; bit++) {
    const changed = Buffer.from(others);
    changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    expect(placed(changed).hasAt(0, placed(others)), `bit ${bit}`).toBe(false);
  }
});

test('bytes that would go on behind the end are not found', () => {
  const others = placed(Buffer.from('0123456789'));
  for (let length = 0; length < 10; length++) {
    expect(placed(Buffer.from('0123456789').subarray(0, length)).hasAt(0, others)).toBe(false);
  }
  expect(placed(Buffer.from('x0123456789')).hasAt(2, others)).toBe(false);
});
