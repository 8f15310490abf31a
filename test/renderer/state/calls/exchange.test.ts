import { describe, expect, it } from 'vitest';
import { createDataLineReader, createStreamWatch, errorOfWhole } from '../../../../renderer/state/calls/exchange.ts';

function faultOf(...events: (object | string)[]) {
  const watch = createStreamWatch();
  const text = events.map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`).join('');
  // The pieces are cut within lines.
  for (let start = 0; start < text.length; start += 7) watch.push(text.slice(start, start + 7));
  return watch.fault();
}

const chunk = (content: string, finish: string | null = null) => ({
  choices: [{ delta: { content }, finish_reason: finish }],
  error: null,
});

describe('a stream', () => {
  it('is whole where it says that it is over', () => {
    expect(faultOf(chunk('Hello'), '[DONE]')).toBeNull();
    expect(faultOf(chunk('Hello'), chunk('', 'stop'))).toBeNull();
    expect(
      faultOf({ type: 'response.created', response: { error: null } }, { type: 'response.completed', response: {} }),
    ).toBeNull();
  });

  it.each([
    [{ error: { message: 'overloaded' } }, 'overloaded'],
    [{ error: { code: 'server_error' } }, 'server_error'],
    [{ error: 'no more' }, 'no more'],
    [{ type: 'error', message: 'gone' }, 'gone'],
    [{ type: 'response.failed', response: { error: { message: 'broken' } } }, 'broken'],
    [{ type: 'response.failed', response: {} }, ''],
  ])('that tells %j has failed, whatever came before', (event, message) => {
    expect(faultOf(chunk('Half an answer and '), event, '[DONE]')).toEqual({ kind: 'told', message });
  });

  it('that just ends was cut', () => {
    expect(faultOf(chunk('Half an answer and '))).toEqual({ kind: 'cut' });
    expect(faultOf()).toEqual({ kind: 'cut' });
  });
});

describe('a whole reply', () => {
  it('that is nothing but an error is one in spite of its status', () => {
    expect(errorOfWhole({ error: { message: 'no images today' } })).toBe('no images today');
  });

  it('that tells of a job that failed is a reply', () => {
    expect(errorOfWhole({ id: 'video_1', status: 'failed', error: { message: 'no' } })).toBeNull();
    expect(errorOfWhole({ data: [], error: null })).toBeNull();
  });
});

describe('a reader of data lines', () => {
  it.each([1, 2, 3, 7, 1000])('finds the same in pieces of %s characters', (size) => {
    const stream = ': comment\nevent: x\ndata: {"a":1}\r\n\r\ndata:{"b":2}\n\ndata: [DONE]\n\n';
    const found: unknown[] = [];
    const read = createDataLineReader((data) => found.push(data));
    for (let start = 0; start < stream.length; start += size) read(stream.slice(start, start + size));
    expect(found).toEqual([{ a: 1 }, { b: 2 }]);
  });
});
