import { describe, expect, it } from 'vitest';
import { BitWriter } from '../../../server/demo/bit-writer.ts';
import { nalUnit } from '../../../server/demo/nal-unit.ts';

describe('a NAL unit', () => {
  it.each([
    [
      [1, 2, 3],
      [1, 2, 3],
    ],
    [
      [0, 0, 4],
      [0, 0, 4],
    ],
    [
      [0, 0, 0],
      [0, 0, 3, 0],
    ],
    [
      [0, 0, 1],
      [0, 0, 3, 1],
    ],
    [
      [0, 0, 3],
      [0, 0, 3, 3],
    ],
    [
      [0, 0, 0, 0, 0, 0, 7],
      [0, 0, 3, 0, 0, 3, 0, 0, 7],
    ],
    [
      [9, 0, 0, 2, 0, 0, 1, 9],
      [9, 0, 0, 3, 2, 0, 0, 3, 1, 9],
    ],
  ])('escapes %j as %j', (payload, escaped) => {
    expect([...nalUnit(0x65, Uint8Array.from(payload))]).toEqual([0x65, ...escaped]);
  });
});

describe('a bit writer', () => {
  // The codes of table 9-2 in H.264.
  it.each([
    [0, '1'],
    [1, '010'],
    [2, '011'],
    [5, '00110'],
    [30, '000011111'],
    [255, '00000000100000000'],
  ])('writes the Exp-Golomb code of %i as %s', (value, code) => {
    const bytes = new BitWriter().exponential(value).finish();
    const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
    expect(bits.replace(/10*$/, '')).toBe(code);
  });

  it('grows with what is appended', () => {
    const block = new Uint8Array(5000).fill(7);
    const bytes = new BitWriter().bits(1, 1).align().append(block).append(block).finish();
    expect([bytes.length, bytes[0], bytes[1], bytes[10_000], bytes[10_001]]).toEqual([10_002, 0x80, 7, 7, 0x80]);
  });
});
