import { describe, expect, test } from 'vitest';
import { withoutUsage } from '../../../../../server/apis/openai/wire/streams.ts';

const strip = (event: string) => withoutUsage(Buffer.from(event))?.toString() ?? null;

describe('the extra chunk goes', () => {
  test.each([
    'data: {"choices":[],"usage":{"prompt_tokens":1}}\n\n',
    'data:{"usage":{"prompt_tokens":1},"choices":[ ]}\n\n',
    'data: {"choices" : [\t] , "usage" : {"prompt_tokens":1} }\r\n\r\n',
    ': comment\ndata: {"choices":[],"usage":{"prompt_tokens":1}}\n\n',
    'id: 7\ndata: {"id":"c","choices":[],"usage":{}}\n\n',
  ])('%j', (event) => expect(strip(event)).toBeNull());
});

describe('usage that is null goes, together with one comma', () => {
  test.each([
    ['data: {"id":"c","usage":null}\n\n', 'data: {"id":"c"}\n\n'],
    ['data: {"usage":null,"id":"c"}\n\n', 'data: {"id":"c"}\n\n'],
    ['data: {"usage":null}\n\n', 'data: {}\n\n'],
    ['data: {"a":1,"usage":null,"b":2}\n\n', 'data: {"a":1,"b":2}\n\n'],
    ['data: {"a":1 , "usage" : null , "b":2}\r\n\r\n', 'data: {"a":1  , "b":2}\r\n\r\n'],
    ['data: { "usage" : null , "b":2}\n\n', 'data: {  "b":2}\n\n'],
    [
      'data: {"choices":[],"prompt_filter_results":[],"usage":null}\n\n',
      'data: {"choices":[],"prompt_filter_results":[]}\n\n',
    ],
    ['data: {"ü":"\u{1F30D}","usage":null}\n\n', 'data: {"ü":"\u{1F30D}"}\n\n'],
  ])('%j', (event, wanted) => expect(strip(event)).toBe(wanted));
});

describe('all else stays, in the same buffer', () => {
  test.each([
    'data: {"choices":[{"delta":{"content":"a"}}]}\n\n',
    'data: {"choices":[{"delta":{"content":"\\"usage\\":null"}}]}\n\n',
    'data: {"choices":[{"delta":{},"usage":null}]}\n\n',
    // Some services put usage into the chunk that also ends the answer.
    'data: {"choices":[{"finish_reason":"stop"}],"usage":{"prompt_tokens":1}}\n\n',
    'data: {"choices":[],"x":{"usage":{"prompt_tokens":1}}}\n\n',
    'data: {"usage":null\n\n',
    'data: {"choices":[],\ndata: "usage":{}}\n\n',
    ': "usage"\n\n',
    'data: [DONE]\n\n',
  ])('%j', (text) => {
    const event = Buffer.from(text);
    expect(withoutUsage(event)).toBe(event);
  });
});
