import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ResponseExcerpt } from '../../../../server/exchange/record/response-taps.ts';

test('an excerpt keeps the end of what was pushed: 8 kB at least, 16 kB at most, all of what is shorter', () => {
  const sizes = fc.array(fc.oneof(fc.nat(300), fc.nat(9_000), fc.nat(40_000)), { maxLength: 30 });
  fc.assert(
    fc.property(sizes, (lengths) => {
      const tail = new ResponseExcerpt();
      let next = 0;
      const chunks = lengths.map((length) => Buffer.from(Array.from({ length }, () => next++ % 251)));
      for (const chunk of chunks) tail.push(chunk);
      const all = Buffer.concat(chunks);
      const kept = tail.tail;
      expect(all.subarray(all.length - kept.length).equals(kept)).toBe(true);
      expect(kept.length).toBeGreaterThanOrEqual(Math.min(all.length, 8 * 1024));
      expect(kept.length).toBeLessThanOrEqual(16 * 1024);
    }),
    { numRuns: 300 },
  );
});

test('an excerpt keeps the first 4 kB of what is longer than the end', () => {
  const sizes = fc.array(fc.oneof(fc.nat(300), fc.nat(9_000), fc.nat(40_000)), { maxLength: 30 });
  fc.assert(
    fc.property(sizes, (lengths) => {
      const tail = new ResponseExcerpt();
      let next = 0;
      const chunks = lengths.map((length) => Buffer.from(Array.from({ length }, () => next++ % 251)));
      for (const chunk of chunks) tail.push(chunk);
      const all = Buffer.concat(chunks);
      const expected = all.length > tail.tail.length ? all.subarray(0, 4_096) : Buffer.alloc(0);
      expect(tail.head.equals(expected)).toBe(true);
    }),
    { numRuns: 300 },
  );
});

test('an excerpt does not change when a pushed chunk’s memory is reused', () => {
  const tail = new ResponseExcerpt();
  const chunk = Buffer.from('abc');
  tail.push(Buffer.from('x'));
  tail.push(chunk);
  chunk.fill('z');
  expect(tail.tail.toString()).toBe('xabc');
});

test('an excerpt is empty at first', () => {
  expect(new ResponseExcerpt().tail).toHaveLength(0);
});

test('an excerpt keeps the first 2 kB of the line in which its end begins', () => {
  const sizes = fc.array(fc.oneof(fc.nat(300), fc.nat(9_000), fc.nat(40_000)), { maxLength: 30 });
  const lines = fc.array(fc.oneof(fc.nat(200), fc.nat(5_000), fc.nat(60_000)), { maxLength: 20 });
  fc.assert(
    fc.property(sizes, lines, (lengths, lineLengths) => {
      const text = lineLengths.map((length, at) => `${`${at}`.padEnd(length, '.')}\n`).join('');
      const excerpt = new ResponseExcerpt();
      let pushed = 0;
      for (const length of [...lengths, text.length]) {
        excerpt.push(Buffer.from(text.slice(pushed, pushed + length)));
        pushed = Math.min(text.length, pushed + length);
      }
      const { line, tail } = excerpt.kept('text/event-stream');
      const before = text.slice(0, text.length - tail.length);
      expect(line?.toString()).toBe(before.slice(before.lastIndexOf('\n') + 1).slice(0, 2_048));
    }),
    { numRuns: 300 },
  );
});
