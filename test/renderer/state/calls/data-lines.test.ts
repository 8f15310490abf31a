import { describe, expect, it } from 'vitest';
import { createDataLineReader } from '../../../../renderer/state/calls/data-lines.ts';

describe('a reader of data lines', () => {
  it.each([1, 2, 3, 7, 1000])('finds the same in pieces of %s characters', (size) => {
    const stream = ': comment\nevent: x\ndata: {"a":1}\r\n\r\ndata:{"b":2}\n\ndata: [DONE]\n\n';
    const found: unknown[] = [];
    const read = createDataLineReader((data) => found.push(data));
    for (let start = 0; start < stream.length; start += size) read(stream.slice(start, start + size));
    expect(found).toEqual([{ a: 1 }, { b: 2 }]);
  });
});
