import { describe, expect, it } from 'vitest';
import { joinInPlace } from '../../../server/ground/fast-paths.ts';

const framing = '\r\n5\r\n';

/** A read of a chunked response, in memory of its own, and its pieces as undici passes them on. */
function readOf(texts: readonly string[]) {
  const read = Buffer.alloc(60_000, '.');
  const pieces: Buffer[] = [];
  let at = 100;
  for (const text of texts) {
    at += read.write(framing, at);
    const length = read.write(text, at);
    pieces.push(read.subarray(at, at + length));
    at += length;
  }
  return { read, start: 100 + framing.length, end: at, pieces: pieces as [Buffer, ...Buffer[]] };
}

describe('joining the pieces of a read', () => {
  it('moves them together in the memory of the read', () => {
    const { read, start, pieces } = readOf(['first', 'and', 'a longer third', '', 'last']);
    const joined = joinInPlace(pieces);
    expect(joined.toString()).toBe('firstanda longer thirdlast');
    expect(joined.buffer === read.buffer).toBe(true);
    expect(joined.byteOffset).toBe(start);
  });

  it('changes nothing before the first piece or behind the last', () => {
    const { read, start, end, pieces } = readOf(['one', 'two', 'three']);
    const before = Buffer.from(read.subarray(0, start));
    const behind = Buffer.from(read.subarray(end));
    joinInPlace(pieces);
    expect(read.subarray(0, start).equals(before)).toBe(true);
    expect(read.subarray(end).equals(behind)).toBe(true);
  });

  it.each([
    ['of two reads', () => [readOf(['one']).pieces[0], readOf(['two']).pieces[0]]],
    ['in another order than their memory', () => readOf(['two', 'one']).pieces.reverse()],
    ['that overlap', () => overlapping()],
  ] as const)('copies pieces %s', (_which, make) => {
    const pieces = make() as [Buffer, Buffer];
    const originals = pieces.map((piece) => Buffer.from(piece));
    const joined = joinInPlace(pieces);
    expect(joined.equals(Buffer.concat(originals))).toBe(true);
    expect(pieces.map(String)).toEqual(originals.map(String));
  });

  it("leaves alone what lies between two pieces in Node's pool", () => {
    const one = Buffer.from('one');
    const between = Buffer.from('of somebody else');
    const two = Buffer.from('and a longer second');
    // How the pool is recognised.
    expect(one.buffer.byteLength).toBe(Buffer.poolSize);
    expect(joinInPlace([one, two]).toString()).toBe('oneand a longer second');
    expect(between.toString()).toBe('of somebody else');
    expect(two.toString()).toBe('and a longer second');
  });
});

function overlapping(): [Buffer, Buffer] {
  const { read } = readOf(['abcdef']);
  return [read.subarray(105, 109), read.subarray(107, 111)];
}
