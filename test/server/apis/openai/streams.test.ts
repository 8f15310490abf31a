import { describe, expect, test } from 'vitest';
import { kindOfRest, readEvent, readPartialEvent } from '../../../../server/apis/core/sse-framing.ts';
import type { StreamClose, StreamWatch } from '../../../../server/apis/core/stream-format.ts';
import { type StreamName, streams } from './streams.ts';

/** The state of a stream after these events and a clean end. */
function endingAfter(protocol: StreamName, ...events: string[]) {
  return endingOf(streams[protocol].watch(1), 'ended', events);
}

function endingOf(watch: StreamWatch, close: StreamClose, events: readonly string[]) {
  for (const event of events) note(watch, event);
  return watch.ending(close);
}

function note(watch: StreamWatch, text: string): void {
  const event = readEvent(text);
  if (!event) throw new Error('no client could read it');
  watch.note(event);
}

const delta = 'data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}\n\n';
const last = 'data: {"choices":[{"index":0,"delta":{},"finish_reason": "length"}]}\n\n';

describe('a chat stream', () => {
  test.each([
    ['nothing', [], null],
    ['a chunk', [delta], null],
    ['[DONE]', [delta, 'data: [DONE]\n\n'], 'complete'],
    ['[DONE] without a space, with CRLF', [delta, 'data:[DONE]\r\n\r\n'], 'complete'],
    ['a finish reason', [delta, last], 'complete'],
    ['a finish reason and usage', [last, 'data: {"choices":[],"usage":{}}\n\n'], 'complete'],
    ['an error', [delta, 'data: {"error":{"message":"x"}}\n\n'], 'failed'],
    ['an error as text', ['data: {"error":"overloaded"}\n\n'], 'failed'],
    ['an error beside other members', [delta, 'data: {"id":"c","choices":[],"error":{"message":"x"}}\n\n'], 'failed'],
    ['an error and [DONE]', ['data: {"error":{"message":"x"}}\n\n', 'data: [DONE]\n\n'], 'failed'],
    ['an error that is null', [delta.replace('{"choices"', '{"error":null,"choices"')], null],
    [
      'talk of ends',
      ['data: {"choices":[{"delta":{"content":"data: [DONE] \\"finish_reason\\":\\"stop\\""}}]}\n\n'],
      null,
    ],
    ['talk of errors', ['data: {"choices":[{"delta":{"content":"{\\"error\\":{}}"}}]}\n\n'], null],
  ])('after %s', (_name, events, wanted) => expect(endingAfter('chat', ...events)).toBe(wanted));

  const cut = (...events: string[]) => endingOf(streams.chat.watch(1), 'cut', events);
  test('that is cut off needs its [DONE], whatever came before', () => {
    expect(cut(delta, last)).toBeNull();
    expect(cut(last, 'data: {"choices":[],"usage":{}}\n\n')).toBeNull();
    expect(cut(last, 'data: [DONE]\n\n')).toBe('complete');
    expect(cut('data: {"error":{"message":"x"}}\n\n')).toBe('failed');
  });

  const finish = (index: number) =>
    `data: {"choices":[{"index":${index},"delta":{},"logprobs":{"content":[]},"finish_reason":"stop"}]}\n\n`;
  const both =
    'data: {"choices":[{"index":0,"finish_reason":"stop"},\r\ndata: {"index":1,"finish_reason":"stop"}]}\r\n\r\n';
  const much = Array.from({ length: 400 }, () => delta.replace('"index":0', '"index":1'));
  test.each<[string, string[], string | null]>([
    ['one of them', [delta, finish(0)], null],
    ['one of them twice', [finish(0), finish(0)], null],
    ['both', [finish(0), delta, finish(1)], 'complete'],
    ['both in one event of two lines', [both], 'complete'],
    ['both, far from one another', [finish(0), ...much, finish(1)], 'complete'],
    ['one and talk of another', [finish(0), delta.replace('"a"', '"\\"finish_reason\\":\\"stop\\""')], null],
    ['one, and [DONE]', [finish(0), 'data: [DONE]\n\n'], 'complete'],
  ])('of two choices, after the finish of %s', (_name, events, wanted) => {
    expect(endingOf(streams.chat.watch(2), 'ended', events)).toBe(wanted);
  });
});

describe('a stream of typed events', () => {
  const typed = (type: string, more = '') => `event: ${type}\ndata: {"type":"${type}"${more}}\n\n`;
  test.each<[StreamName, string, string | null]>([
    ['responses', typed('response.completed'), 'complete'],
    ['responses', typed('response.incomplete'), 'complete'],
    ['responses', typed('response.failed'), 'failed'],
    ['responses', typed('error', ',"code":"x"'), 'failed'],
    ['responses', typed('response.output_text.done'), null],
    ['responses', typed('response.output_text.delta', ',"delta":"data: [DONE]"'), null],
    ['responses', typed('response.output_item.done', ',"item":{"type":"error"}'), null],
    ['responses', 'data: [DONE]\n\n', 'complete'],
    ['responses', typed('response.created').replaceAll('\n', '\r\n'), null],
    ['responses', typed('response.completed').replaceAll('\n', '\r\n'), 'complete'],
    ['responses', 'data: {"response":{"output":[{"type":"message"}]},"type":"response.completed"}\n\n', 'complete'],
    ['images', typed('image_generation.completed'), 'complete'],
    ['images', typed('image_edit.completed'), 'complete'],
    ['images', typed('image_generation.partial_image'), null],
    ['images', 'data: {"error":{"message":"x"}}\n\n', 'failed'],
    ['transcription', 'data: {"type":"transcript.text.done"}\n\n', 'complete'],
    ['transcription', 'event: message\ndata: {"type":"transcript.text.done"}\n\n', 'complete'],
    ['transcription', 'data: {"text":"a","type" : "transcript.text.done","usage":{}}\n\n', 'complete'],
    [
      'transcription',
      'data: {"type":"transcript.text.delta","delta":"\\"type\\":\\"transcript.text.done\\""}\n\n',
      null,
    ],
    ['speech', typed('speech.audio.done'), 'complete'],
    ['speech', ': speech.audio.done\n\n', null],
  ])('%s after %j', (protocol, event, wanted) => expect(endingAfter(protocol, event)).toBe(wanted));

  test('stays failed whatever follows an error', () => {
    expect(endingAfter('responses', typed('error'), typed('response.failed'), 'data: [DONE]\n\n')).toBe('failed');
  });

  test('goes on in the numbers and under the id of its response when it is broken off', () => {
    const watch = streams.responses.watch(1);
    note(watch, typed('response.created', ',"sequence_number":0,"response":{"id":"resp_7"}'));
    note(watch, typed('response.in_progress', ',"sequence_number":1'));
    const text = watch.errorEvent({ message: 'm', type: 't', param: null, code: 'c' });
    expect(text).toMatch(/"type":"error","sequence_number":2,"error":\{"message":"m"/);
    expect(text).toMatch(/"type":"response.failed","sequence_number":3,"response":\{"id":"resp_7"/);
  });
});

test('an event too large to be held ends a stream if its beginning says so', () => {
  const watch = streams.images.watch(1);
  watch.note(
    readPartialEvent(Buffer.from(`data: {"type":"image_generation.completed","b64_json":"${'A'.repeat(1_000)}`)),
  );
  expect(watch.ending('ended')).toBe('complete');
});

describe('what follows the last blank line', () => {
  test.each([
    ['data: [DONE]', 'event'],
    ['data: [DONE]\n', 'event'],
    ['data: {"a":"ü"}\r\n', 'event'],
    ['event: x\ndata: {"a":\ndata: 1}', 'event'],
    [': ping\rdata: {"a":1}\r', 'event'],
    ['data: {"a"', 'piece'],
    ['data: [DON', 'piece'],
    ['da', 'piece'],
    ['event: x', 'piece'],
    [': ping', 'nothing'],
    ['\r', 'nothing'],
  ])('is, in %j, %s', (text, wanted) => expect(kindOfRest(Buffer.from(text), readEvent(text))).toBe(wanted));
});

const withReason = (delta: string) => `data: {"choices":[{"index":0,"delta":{${delta}},"finish_reason":"stop"}]}\n\n`;
const picture = 'data: {"type":"image_generation.completed"}\n\n';

test.each([
  ['all of it was said', 'chat', 1, [last], true],
  ['a choice is still due', 'chat', 2, [last], false],
  [
    'a reason came with a piece of text, as some name one with each',
    'chat',
    1,
    [delta.replace('null', '"stop"')],
    false,
  ],
  ['a reason came with a piece of thought', 'chat', 1, [withReason('"reasoning_content":"hm"')], false],
  ['a reason came with the call of a tool', 'chat', 1, [withReason('"tool_calls":[{"index":0}]')], false],
  ['more followed on what seemed its end', 'chat', 1, [last, delta], false],
  ['its end came without anything more', 'chat', 1, [delta, withReason('"role":"assistant","content":""')], true],
  ['one of two pictures is there', 'images', 2, [picture], false],
  ['both pictures are there', 'images', 2, [picture, picture], true],
] as const)('a stream that stays open is over or not: %s', (_what, protocol, answers, events, wanted) => {
  const watch = streams[protocol].watch(answers);
  for (const event of events) note(watch, event);
  expect(watch.isComplete).toBe(wanted);
});
