/**
 * What is derived from a reply by inspecting it: whole replies, single events, and the part of a chat that was sent.
 */
import { describe, expect, test } from 'vitest';
import {
  formatOf,
  isPlausibleBeginning,
  readJson,
  readMedia,
  readText,
} from '../../../../server/apis/core/errors/read-whole.ts';
import { readEvent } from '../../../../server/apis/core/sse-framing.ts';
import { takeEvents } from '../../../../server/apis/core/wire.ts';
import { ChatText } from '../../../../server/apis/openai/rescue/chat.ts';
import { continuedBody } from '../../../../server/apis/openai/rescue/rescue.ts';
import { prefillOf } from '../../../../server/providers/dialects.ts';
import { findRoute } from '../../../support/routes.ts';
import { type StreamName, streams } from './streams.ts';

const json = { 'content-type': 'application/json' };
const read = (
  path: string,
  body: string,
  { headers = json, method = 'POST', isTextAsked = false, isFramed = true } = {},
) => {
  const { wire } = findRoute(method, path).route;
  const format = formatOf({ wire, headers, isTextAsked });
  const bytes = Buffer.from(body);
  if (format === 'json') return readJson(bytes, wire, { isFramed, passesUnread: false }).kind;
  return (format === 'text' ? readText(bytes) : readMedia(bytes)).kind;
};

describe('a whole answer', () => {
  const long = 'x'.repeat(20_000);
  test.each([
    ['answer', '{"id":"x"}'],
    ['answer', ' \n{"id":"x"}\n'],
    ['answer', '\uFEFF{"id":"x"}'],
    ['answer', '{"id":"x","error":null}'],
    ['answer', `{"id":"${long}"}\n`],
    ['answer', '{"choices":[]}'],
    // Only structure is scanned: what is inside a string is for the client to read.
    ['damaged', '{"choices":[{"message":{"content":"a raw \tcharacter"}}]}'],
    ['damaged', `{"choices":[{"message":{"content":"${long} and a raw \ncharacter"}}]}`],
    ['answer', '{"choices":[{"message":{"content":"\\q is looked for by nobody"}}]}'],
    ['answer', '{"id":"x","status":"error","message":"x","code":1}'],
    ['answer', '{"id":"x","detail":"high"}'],
    ['answer', `{"id":"${long}","choices":[{"index":0}],"error":null}`],
    ['answer', `{"id":"${long}","choices":[{"index":0}{{{]}`],
    ['damaged', ''],
    ['damaged', 'null'],
    ['damaged', '"Service Unavailable"'],
    ['damaged', '[]'],
    ['damaged', '{}'],
    ['damaged', '{"id":"x"'],
    ['damaged', '{"choices":[{"message":{"content":"x"}}'],
    ['damaged', '{"choices":[{"index":0}{{{]}'],
    ['damaged', '{"choices":[],"usage":{"total_tokens":1}} {}'],
    ['damaged', 'upstream error'],
    ['damaged', `{"id":"${long}`],
    ['damaged', `error ${long}}`],
    ['error', '{"status":"error","message":"x"}'],
    ['error', '{"message":"x","code":500}'],
    ['error', '{"success":false,"errors":[{"code":1}]}'],
    ['error', '{"error":{"message":"x"}}'],
    ['error', '{"error":"overloaded"}'],
    ['error', '{"object":"error","message":"The model is loading.","code":503}'],
    ['error', '{"detail":"Not ready"}'],
    ['error', '[{"error":{"code":500}}]'],
    ['error', `{"error":{"message":"${long}"}}`],
    ['error', `[{"error":{"message":"${long}"}}]`],
    ['error', '{"id":"x","choices":[{"error":{"code":502},"finish_reason":"error"}]}'],
  ])('is %s: %.60s', (wanted, body) => expect(read('/chat/completions', body)).toBe(wanted));

  test.each([
    ['failed-answer', 'server_error'],
    ['failed-answer', 'rate_limit_exceeded'],
    ['answer', 'content_policy_violation'],
    ['answer', 'invalid_prompt'],
  ])('that is a response which failed is %s by its code %s', (wanted, code) => {
    const failed = { id: 'resp_1', object: 'response', status: 'failed', error: { code, message: 'x' }, output: [] };
    expect(read('/responses', JSON.stringify(failed))).toBe(wanted);
  });

  test('that is a video which failed is an answer', () => {
    const failed = { id: 'video_1', object: 'video', status: 'failed', error: { code: 'server_error' } };
    expect(read('/videos', JSON.stringify(failed))).toBe('answer');
  });

  test('that ended with its connection is read to its end', () => {
    const body = JSON.stringify({
      object: 'list',
      data: [{ embedding: Array.from({ length: 8_000 }, (_, index) => Math.sin(index)) }, {}],
    });
    const cut = body.slice(0, body.lastIndexOf('}', body.length - 4) + 1);
    const garbled = `${body.slice(0, 50_000)}\u0000{{{${body.slice(50_004)}`;
    const framings = [true, false].map((isFramed) =>
      [body, cut, garbled].map((text) => read('/embeddings', text, { isFramed })),
    );
    expect(framings).toEqual([
      ['answer', 'answer', 'answer'],
      ['answer', 'damaged', 'damaged'],
    ]);
  });

  test.each([
    [true, '{"object":"list","data":[{"embedding":[0.1,-0.2,0.'],
    [false, `{"object":"list","data":[{"embedding":[0.x${',0.1'.repeat(100)}`],
    [false, '{"object":"list","data":[{"embedding":[0.1]}]}'.padEnd(200, 'x')],
    [false, `{"x":"${long}`],
  ])('may, or may not, go on: %s, %.60s', (wanted, beginning) => {
    expect(isPlausibleBeginning(Buffer.from(beginning), findRoute('POST', '/embeddings').route.wire)).toBe(wanted);
  });

  test.each([0, 1, 2, 3])(
    'with a raw control character anywhere in a string is damaged, %i bytes into its memory',
    (shift) => {
      const { wire } = findRoute('POST', '/v1/chat/completions').route;
      const kindOf = (text: string) => {
        const memory = Buffer.alloc(256, '\0');
        const bytes = memory.subarray(
          shift,
          shift + memory.write(`{"choices":[{"message":{"content":"${text}"}}]}`, shift),
        );
        return readJson(bytes, wire, { isFramed: true, passesUnread: false }).kind;
      };
      for (const text of ['', 'é~ \u{7f}\u{80}\u{ff}', '\u{fffd}'.repeat(9)]) expect(kindOf(text)).toBe('answer');
      for (let code = 0; code < 0x20; code++)
        for (let at = 0; at < 9; at++)
          expect(kindOf(`${'é~!'.repeat(3).slice(0, at) + String.fromCharCode(code)} `)).toBe('damaged');
    },
  );

  test('of an empty list is a good answer to who asks for one', () => {
    expect(read('/responses/resp_1/input_items', '{"data":[]}', { method: 'GET' })).toBe('answer');
  });

  test('of a job that failed is a good answer to who asks about it', () => {
    expect(read('/videos/video_1', '{"id":"video_1","object":"video","error":{"code":"x"}}', { method: 'GET' })).toBe(
      'answer',
    );
    expect(read('/videos/video_1', '{"error":{"code":"x"}}', { method: 'GET' })).toBe('error');
  });

  test('of sound cannot be empty, but a transcript of silence can', () => {
    expect(read('/audio/speech', '', { headers: { 'content-type': 'audio/wav' } })).toBe('damaged');
    const headers = { 'content-type': 'text/plain' };
    expect(read('/audio/transcriptions', '', { headers, isTextAsked: true })).toBe('answer');
    expect(read('/audio/transcriptions', '', { headers })).toBe('damaged');
    expect(read('/audio/transcriptions', '')).toBe('damaged');
  });

  test('need not be JSON where the route has other answers', () => {
    expect(read('/audio/speech', 'RIFF', { headers: { 'content-type': 'audio/wav' } })).toBe('answer');
    const headers = { 'content-type': 'text/plain' };
    expect(read('/audio/transcriptions', 'Hello', { headers, isTextAsked: true })).toBe('answer');
    expect(read('/audio/transcriptions', 'upstream connect error', { headers })).toBe('damaged');
    expect(read('/audio/speech', '{"error":{"code":"x"}}')).toBe('error');
  });
});

const saying = (text: string, protocol: StreamName) => {
  const event = readEvent(text);
  return event && streams[protocol].meaningOf(event).kind;
};

describe('an event', () => {
  const chunk = (content: string) =>
    `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"choices":[{"index":0,"delta":{"content":${JSON.stringify(content)}}}]}\n\n`;

  test.each([
    chunk('a'),
    'data: [DONE]\n\n',
    'data:[DONE]\r\n\r\n',
    ': comment\n\n',
    'event: ping\n\n',
    'id: 7\nretry: 10\n\n',
    'event: x\ndata: {"a":\ndata: 1}\n\n',
    'data: {"a":1}\r\r',
    'data: 5\n\n',
  ])('is sound: %j', (event) => expect(readEvent(event)).not.toBeNull());

  test.each([
    'data: {"a"\n\n',
    'data: oops\n\n',
    'data:\n\n',
    'data: {"a":1}}\n\n',
    'data: {"a":1}\ndata: {"b":2}\n\n',
    chunk('a').replace('}]}', ''),
    chunk('a').slice(0, -20),
    chunk('a').replace('"delta"', '"delta'),
  ])('is not: %j', (event) => expect(readEvent(event)).toBeNull());

  test('has the name of its line, and its data in one', () => {
    const read = readEvent('event: x.y\ndata: {"a":\ndata: 1}\n\n');
    expect(read).toMatchObject({ name: 'x.y', value: { a: 1 } });
    expect(readEvent('data: {}\n\n')).toEqual({ name: '', data: '{}', value: {} });
    expect(readEvent('event: ping\n\n')).toEqual({ name: 'ping', data: '', value: undefined });
    expect(readEvent('data: [DONE]\r\n\r\n')).toEqual({ name: '', data: '[DONE]', value: undefined });
  });

  test.each<[string, StreamName, string]>([
    ['nothing', 'chat', ': comment\n\n'],
    ['nothing', 'chat', 'data: [DONE]\n\n'],
    ['nothing', 'chat', 'data: {"choices":[],"prompt_filter_results":[]}\n\n'],
    ['nothing', 'chat', 'data: {"choices":[{"delta":{"role":"assistant","content":"","tool_calls":[]}}]}\n\n'],
    ['nothing', 'chat', 'data: {"choices":[{"text":"","finish_reason":null}]}\n\n'],
    ['content', 'chat', 'data: {"choices":[{"delta":{"content":"a"}}]}\n\n'],
    ['content', 'chat', 'data: {"choices":[{"delta":{"reasoning_content":"a"}}]}\n\n'],
    ['content', 'chat', 'data: {"choices":[{"delta":{"tool_calls":[{"index":0}]}}]}\n\n'],
    ['content', 'chat', 'data: {"choices":[{"delta":{"refusal":"no"}}]}\n\n'],
    ['content', 'chat', 'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n'],
    ['content', 'chat', 'data: {"choices":[{"text":"a"}]}\n\n'],
    ['error', 'chat', 'data: {"error":{"message":"x"}}\n\n'],
    ['error', 'chat', 'data: {"error":"x","choices":[]}\n\n'],
    ['nothing', 'responses', 'event: response.created\ndata: {"type":"response.created"}\n\n'],
    ['alive', 'responses', 'data: {"type":"response.in_progress","response":{"error":null}}\n\n'],
    ['content', 'responses', 'data: {"type":"response.output_item.added"}\n\n'],
    ['content', 'responses', 'data: {"type":"response.completed"}\n\n'],
    ['error', 'responses', 'data: {"type":"response.failed","response":{"error":{"code":"x"}}}\n\n'],
    ['error', 'responses', 'data: {"type":"error","code":"x","message":"y"}\n\n'],
    ['content', 'images', 'data: {"type":"image_generation.partial_image"}\n\n'],
    ['content', 'transcription', 'data: {"type":"transcript.text.delta","delta":"a"}\n\n'],
  ])('says %s in %s: %s', (wanted, protocol, event) => {
    expect(saying(event, protocol)).toBe(wanted);
  });
});

describe('what a client has of a chat', () => {
  const chunk = (delta: object, more: object = {}) =>
    Buffer.from(
      `data: ${JSON.stringify({ id: 'c', created: 7, model: 'm', choices: [{ index: 0, delta, ...more }] })}\n\n`,
    );

  test('is its text, under the name of its first chunk, however long it is', () => {
    const text = new ChatText();
    const pieces = Array.from({ length: 2_000 }, (_, index) => `piece ${index} ä\u{1F30D}"\n`);
    takeEvents(text, chunk({ role: 'assistant', content: '' }));
    for (const content of pieces) takeEvents(text, chunk({ content }));
    expect(text.read()).toMatchObject({ text: pieces.join(''), id: 'c', created: 7, model: 'm', isFinished: false });
    takeEvents(text, chunk({}, { finish_reason: 'stop' }));
    expect(text.read()).toMatchObject({ isFinished: true });
  });

  test.each([
    [{ tool_calls: [{ index: 0 }] }, {}],
    [{ function_call: { name: 'f' } }, {}],
    [{ audio: { data: 'x' } }, {}],
    [{ refusal: 'no' }, {}],
    [{ content: 'b' }, { index: 1 }],
  ])('cannot be continued after %j %j', (delta, more) => {
    const text = new ChatText();
    takeEvents(text, chunk({ content: 'a' }));
    takeEvents(text, chunk(delta, more));
    expect(text.read()).toBeNull();
  });

  test('is nothing before the first chunk', () => {
    expect(new ChatText().read()).toBeNull();
  });
});

describe('a request for the rest', () => {
  const prefill = { message: { prefix: true }, request: { more: [1] } };

  test('has the beginning as its last message, and all else as it was', async () => {
    const body = '{ "messages" : [ {"role":"user","content":"]"} ], "x": 1.50 }';
    const continued = String(await continuedBody(Buffer.from(body), 'a "b"\n', prefill));
    expect(JSON.parse(continued)).toEqual({
      messages: [
        { role: 'user', content: ']' },
        { role: 'assistant', content: 'a "b"\n', prefix: true },
      ],
      x: 1.5,
      more: [1],
    });
    expect(continued).toContain('"x": 1.50');
  });

  test('cannot be made of a body without messages', async () => {
    expect(await continuedBody(Buffer.from('{"model":"x"}'), 'a', prefill)).toBeNull();
    expect(await continuedBody(Buffer.from('{"messages":"x"}'), 'a', prefill)).toBeNull();
  });

  test('goes to services that say they take one, and to no other', () => {
    const taken = (preset: string | undefined, baseUrl = 'https://x.example/v1') =>
      prefillOf(preset === undefined ? { baseUrl } : { preset, baseUrl }) !== null;
    expect(['mistral', 'llama-cpp', 'vllm'].every((preset) => taken(preset))).toBe(true);
    expect(['openai', 'azure', 'anthropic', 'gemini', 'groq', undefined].some((preset) => taken(preset))).toBe(false);
    expect(taken('deepseek', 'https://api.deepseek.com')).toBe(false);
    expect(taken('deepseek', 'https://api.deepseek.com/beta')).toBe(true);
  });
});
