import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { capabilities } from '../../../../../server/contract/capability.ts';
import { extractUsage } from '../../../../../server/wire/openai/usage/usage.ts';
import type { KeptAnswer, UsageHints } from '../../../../../server/wire/wire.ts';
import { tries } from '../../../../support/sweep.ts';

const json = 'application/json';
const sse = 'text/event-stream; charset=utf-8';
type Capability = (typeof capabilities)[number];

type Hints = UsageHints & Partial<Pick<KeptAnswer, 'head' | 'bytes'>>;

function extract(capability: Capability, reply: unknown, contentType = json, { head, bytes, ...hints }: Hints = {}) {
  const text = typeof reply === 'string' ? reply : JSON.stringify(reply);
  const tail = Buffer.isBuffer(reply) ? reply : Buffer.from(text);
  const answer = { tail, head: head ?? Buffer.alloc(0), bytes: bytes ?? tail.length, contentType };
  return extractUsage(capability, answer, hints);
}
const none = { usage: null, certainty: 'none', status: null };

describe('usage as each route reports it', () => {
  const chatUsage = {
    prompt_tokens: 100,
    completion_tokens: 40,
    total_tokens: 140,
    prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 7, audio_tokens: 3, image_tokens: 2 },
    completion_tokens_details: {
      reasoning_tokens: 30,
      audio_tokens: 1,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 2,
    },
  };
  const chatExpected = {
    inputTokens: 100,
    outputTokens: 40,
    cachedInputTokens: 60,
    cacheWriteTokens: 7,
    audioInputTokens: 3,
    imageInputTokens: 2,
    reasoningTokens: 30,
    audioOutputTokens: 1,
  };
  const responsesUsage = {
    input_tokens: 20,
    input_tokens_details: { cached_tokens: 5 },
    output_tokens: 9,
    output_tokens_details: { reasoning_tokens: 4 },
    total_tokens: 29,
  };
  const responsesExpected = { inputTokens: 20, outputTokens: 9, cachedInputTokens: 5, reasoningTokens: 4 };

  test.each<[string, Capability, unknown, string, object]>([
    ['chat', 'chat', { choices: [{ message: { content: 'hi' } }], usage: chatUsage }, json, chatExpected],
    [
      'chat stream',
      'chat',
      `data: {"choices":[{"delta":{"content":"a"}}],"usage":null}\n\ndata: {"choices":[],"usage":${JSON.stringify(chatUsage)}}\n\ndata: [DONE]\n\n`,
      sse,
      chatExpected,
    ],
    [
      'completions',
      'completions',
      { object: 'text_completion', usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } },
      json,
      { inputTokens: 1, outputTokens: 2 },
    ],
    [
      'responses',
      'responses',
      { id: 'resp_1', usage: responsesUsage, user: null, metadata: {} },
      json,
      responsesExpected,
    ],
    [
      'responses stream',
      'responses',
      `event: response.created\r\ndata: {"type":"response.created","response":{"usage":null}}\r\n\r\nevent: response.completed\r\ndata: ${JSON.stringify({ type: 'response.completed', response: { usage: responsesUsage } })}\r\n\r\n`,
      sse,
      responsesExpected,
    ],
    [
      'embeddings',
      'embeddings',
      { data: [{ embedding: 'AAAA' }], model: 'm', usage: { prompt_tokens: 8, total_tokens: 8 } },
      json,
      { inputTokens: 8 },
    ],
    [
      'images',
      'images',
      {
        created: 1,
        data: [{ b64_json: 'AAAA' }],
        usage: {
          input_tokens: 50,
          input_tokens_details: { text_tokens: 10, image_tokens: 40 },
          output_tokens: 272,
          output_tokens_details: { image_tokens: 272, text_tokens: 0 },
          total_tokens: 322,
        },
      },
      json,
      { inputTokens: 50, imageInputTokens: 40, outputTokens: 272, imageOutputTokens: 272 },
    ],
    [
      'transcription by tokens',
      'transcription',
      {
        text: 'hello',
        usage: {
          type: 'tokens',
          input_tokens: 14,
          input_token_details: { text_tokens: 4, audio_tokens: 10 },
          output_tokens: 5,
          total_tokens: 19,
        },
      },
      json,
      { inputTokens: 14, audioInputTokens: 10, outputTokens: 5 },
    ],
    [
      'transcription by duration',
      'transcription',
      { text: 'hello', usage: { type: 'duration', seconds: 9 } },
      json,
      { seconds: 9 },
    ],
    [
      'transcription stream',
      'transcription',
      'data: {"type":"transcript.text.done","text":"x","usage":{"type":"tokens","input_tokens":3,"output_tokens":1}}\n\n',
      sse,
      { inputTokens: 3, outputTokens: 1 },
    ],
    ['verbose translation', 'translation', { duration: 8.47, text: 'hello', segments: [] }, json, { seconds: 8.47 }],
    ['verbose translation of old', 'translation', { duration: '8.47', text: 'hello' }, json, { seconds: 8.47 }],
    [
      'speech stream',
      'speech',
      'data: {"type":"speech.audio.done","usage":{"input_tokens":14,"output_tokens":101,"total_tokens":115}}\n\n',
      sse,
      { inputTokens: 14, outputTokens: 101 },
    ],
    ['video', 'videos', { id: 'video_1', status: 'queued', seconds: '8', size: '720x1280' }, json, { seconds: 8 }],
    [
      'Groq stream',
      'chat',
      'data: {"choices":[{"delta":{}}],"x_groq":{"id":"req_1","usage":{"prompt_tokens":4,"completion_tokens":2,"queue_time":0.1}}}\n\ndata: [DONE]\n\n',
      sse,
      { inputTokens: 4, outputTokens: 2 },
    ],
    [
      'Anthropic',
      'chat',
      {
        usage: {
          input_tokens: 10,
          cache_read_input_tokens: 100,
          cache_creation_input_tokens: 20,
          output_tokens: 6,
          output_tokens_details: { thinking_tokens: 2 },
        },
      },
      json,
      { inputTokens: 130, cachedInputTokens: 100, cacheWriteTokens: 20, outputTokens: 6, reasoningTokens: 2 },
    ],
  ])('%s', (_, capability, reply, contentType, expected) => {
    expect(extract(capability, reply, contentType)).toMatchObject({ usage: expected, certainty: 'reported' });
  });
});

test('what the request says is an estimate where the reply says nothing', () => {
  const mp3 = 'audio/mpeg';
  expect(extract('speech', 'ID3', mp3, { inputCharacters: 11 })).toMatchObject({
    usage: { characters: 11 },
    certainty: 'estimated',
  });
  expect(extract('images', { data: [{ url: 'x' }] }, json, { images: 2 })).toMatchObject({
    usage: { images: 2 },
    certainty: 'estimated',
  });
  expect(extract('videos', { id: 'v' }, json, { seconds: 4 })).toMatchObject({
    usage: { seconds: 4 },
    certainty: 'estimated',
  });
  expect(extract('transcription', 'hello', 'text/plain', { seconds: 3 })).toMatchObject({
    usage: { seconds: 3 },
    certainty: 'estimated',
  });
});

test('characters and pictures of the request stand beside the tokens that are reported', () => {
  const usage = { input_tokens: 1, output_tokens: 2 };
  expect(extract('speech', { usage }, sse, { inputCharacters: 5 }).usage).toEqual({
    inputTokens: 1,
    outputTokens: 2,
    characters: 5,
  });
  expect(extract('images', { usage }, json, { images: 3 })).toMatchObject({
    usage: { inputTokens: 1, outputTokens: 2, images: 3 },
    certainty: 'reported',
  });
});

test('of a stream of several pictures only the last usage is seen, so it is partial', () => {
  const event = 'data: {"type":"image_generation.completed","usage":{"input_tokens":1,"output_tokens":2}}\n\n';
  expect(extract('images', event, sse, { images: 2 }).certainty).toBe('partial');
  expect(extract('images', event, sse, { images: 1 }).certainty).toBe('reported');
});

test.each<[string, Capability, string, string]>([
  ['moderation', 'moderations', '{"results":[]}', json],
  ['an empty reply', 'chat', '', json],
  ['usage that is null', 'chat', '{"usage":null}', json],
  ['usage that is a string', 'chat', '{"usage":"{}"}', json],
  ['the word as a value', 'chat', '{"type":"usage"}', json],
  ['an unknown shape', 'chat', '{"usage":{"tokens":5}}', json],
  ['an empty object', 'chat', '{"usage":{}}', json],
  ['a list', 'chat', '{"usage":[{"prompt_tokens":5}]}', json],
  ['an object that is cut', 'chat', '{"usage":{"prompt_tokens":5,"completion_tokens":', json],
  ['an object that is not JSON', 'chat', '{"usage":{"prompt_tokens":05}}', json],
  ['plain text that looks like usage', 'transcription', '"usage":{"input_tokens":5}', 'text/plain'],
  ['sound', 'speech', '"usage":{"input_tokens":5}', 'audio/mpeg'],
  ['a video without length', 'videos', '{"id":"video_1","seconds":null}', json],
  ['a length that is cut', 'videos', '{"seconds":"1', json],
])('nothing is made of %s', (_, capability, reply, contentType) => {
  expect(extract(capability, reply, contentType)).toEqual(none);
});

test('text of a model that imitates usage is not taken for it', () => {
  const content = 'data: {"usage":{"prompt_tokens":999,"completion_tokens":999}}';
  expect(extract('chat', { choices: [{ message: { content } }] })).toEqual(none);
  const usage = { prompt_tokens: 1, completion_tokens: 2 };
  expect(extract('chat', { usage, choices: [{ message: { content } }] }).usage).toEqual({
    inputTokens: 1,
    outputTokens: 2,
  });
});

test('the last usage that has numbers counts, not a null or a schema after it', () => {
  const chunks = [
    '{"usage":{"prompt_tokens":1,"completion_tokens":1}}',
    '{"usage":{"prompt_tokens":1,"completion_tokens":9}}',
    '{"usage":null}',
    '{"tools":[{"parameters":{"properties":{"usage":{"type":"object"}}}}]}',
  ];
  expect(extract('chat', chunks.map((chunk) => `data: ${chunk}\n\n`).join(''), sse).usage).toEqual({
    inputTokens: 1,
    outputTokens: 9,
  });
});

test('space, braces in strings and escapes inside the object do no harm', () => {
  const reply = '{"usage" :\n\t {"note":"}\\"{", "prompt_tokens" : 3, "x":{"y":[{}]} , "completion_tokens":4 } }';
  expect(extract('chat', reply).usage).toEqual({ inputTokens: 3, outputTokens: 4 });
});

test.each([-1, 1e300, -1e300, Number.MAX_SAFE_INTEGER + 2])('%j tokens are not believed', (value) => {
  const told = extract('chat', { usage: { prompt_tokens: value, completion_tokens: 4 } });
  expect(told).toMatchObject({ usage: { outputTokens: 4 }, certainty: 'estimated' });
  expect(told.usage).not.toHaveProperty('inputTokens');
});

test.each(['5', null, true])('%j is no number of tokens', (value) => {
  expect(extract('chat', { usage: { prompt_tokens: value, completion_tokens: 4 } }).usage).toEqual({ outputTokens: 4 });
});

test('a part of a token counts as one, and is no report', () => {
  expect(extract('chat', { usage: { prompt_tokens: 1.5, completion_tokens: 4 } })).toMatchObject({
    usage: { inputTokens: 2, outputTokens: 4 },
    certainty: 'estimated',
  });
});

test('no more is believed than request and reply can stand for', () => {
  const most = { inputTokens: 100, outputTokens: 50, seconds: 60 };
  const chat = extract('chat', { usage: { prompt_tokens: 101, completion_tokens: 50 } }, json, { most });
  expect(chat).toMatchObject({ usage: { outputTokens: 50 }, certainty: 'estimated' });
  const heard = { text: 'x', usage: { type: 'duration', seconds: 1e300 } };
  expect(extract('transcription', heard, json, { most }).usage).toBeNull();
  const { usage } = extract('chat', {
    usage: { prompt_tokens: 10, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 1e15 } },
  });
  expect(usage).toEqual({ inputTokens: 10, outputTokens: 5 });
});

describe('words of a client that a reply repeats are not taken for its usage', () => {
  const mine = { prompt_tokens: 0, completion_tokens: 0 };
  const told = { prompt_tokens: 7, completion_tokens: 9 };
  const expected = { inputTokens: 7, outputTokens: 9 };
  const long = 'a'.repeat(30_000);
  const ends = (reply: string) => ({ bytes: reply.length, head: Buffer.from(reply.slice(0, 4_096)) });

  test.each([
    ['in a short reply', { usage: told, metadata: { usage: mine } }],
    ['in a long one', { choices: [long], usage: told, metadata: { usage: mine, more: [{ usage: mine }] } }],
    ['in one that tells its usage first', { usage: told, choices: [long], metadata: { usage: mine } }],
  ])('%s', (_, document) => {
    const reply = JSON.stringify(document);
    const tail = reply.slice(-8_192);
    expect(extract('chat', tail, json, ends(reply)).usage).toEqual(expected);
  });

  test('where they are all that there is', () => {
    for (const document of [{ metadata: { usage: mine } }, { choices: [long], metadata: { usage: mine } }]) {
      const reply = JSON.stringify(document);
      expect(extract('chat', reply.slice(-8_192), json, ends(reply))).toEqual(none);
    }
  });

  test('in the events of a stream, whole or cut', () => {
    const usage = { input_tokens: 7, output_tokens: 9 };
    const response = { output: [long], usage, metadata: { usage: { input_tokens: 0, output_tokens: 0 } } };
    const event = `data: ${JSON.stringify({ type: 'response.completed', response })}\n\n`;
    expect(extract('responses', event, sse).usage).toEqual(expected);
    expect(extract('responses', event.slice(-8_192), sse, ends(event)).usage).toEqual(expected);
    const chat = `data: ${JSON.stringify({ choices: [], usage: told })}\n\ndata: ${JSON.stringify({ choices: [], metadata: { usage: mine } })}\n\n`;
    expect(extract('chat', chat, sse).usage).toEqual(expected);
  });
});

test('a usage or a length that stands before a long answer is read', () => {
  const reply = JSON.stringify({
    id: 'c',
    usage: { prompt_tokens: 1, completion_tokens: 2 },
    choices: ['a'.repeat(30_000)],
  });
  const long = { bytes: reply.length, head: Buffer.from(reply.slice(0, 4_096)) };
  expect(extract('chat', reply.slice(-8_192), json, long)).toMatchObject({
    usage: { inputTokens: 1, outputTokens: 2 },
    certainty: 'reported',
  });
  const verbose = JSON.stringify({
    task: 'transcribe',
    duration: 8.47,
    segments: [{ text: 'b'.repeat(30_000), duration: 1 }],
  });
  const heard = { bytes: verbose.length, head: Buffer.from(verbose.slice(0, 4_096)) };
  expect(extract('transcription', verbose.slice(-8_192), json, heard).usage).toEqual({ seconds: 8.47 });
});

test('Moonshot’s usage with the last choice of a stream is read', () => {
  const usage = { prompt_tokens: 19, completion_tokens: 13, total_tokens: 32 };
  const event = { choices: [{ index: 0, delta: {}, finish_reason: 'stop', usage }] };
  expect(extract('chat', `data: ${JSON.stringify(event)}\n\ndata: [DONE]\n\n`, sse).usage).toEqual({
    inputTokens: 19,
    outputTokens: 13,
  });
});

test('wherever the tail begins, the usage at its end is found whole or not at all', () => {
  const reply = Buffer.from(
    `data: {"choices":[{"delta":{"content":"ü\\"usage\\":{"}}],"usage":null}\n\n` +
      'data: {"choices":[],"usage":{"prompt_tokens":12,"completion_tokens":34}}\n\ndata: [DONE]\n\n',
  );
  const keyAt = reply.lastIndexOf('"usage"');
  for (let from = 0; from <= reply.length; from += 1) {
    const { usage } = extract('chat', reply.subarray(from), sse);
    expect(usage).toEqual(from <= keyAt ? { inputTokens: 12, outputTokens: 34 } : null);
  }
});

test('no bytes make it throw or count what is no number', () => {
  const pieces = fc.constantFrom(
    '"usage"',
    '"seconds"',
    '"duration"',
    ':',
    '{',
    '}',
    '"',
    '\\',
    '[',
    ',',
    'null',
    ' ',
    '"prompt_tokens":',
    '"input_tokens":',
    '"cache_read_input_tokens":',
    '"type":"duration"',
    '1e999',
    '-3',
    '12',
    '"8"',
    'ü',
  );
  const text = fc.array(fc.oneof(pieces, fc.string()), { maxLength: 40 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(
      text,
      fc.nat(),
      fc.constantFrom(...capabilities),
      fc.constantFrom(json, sse),
      (reply, cut, of, type) => {
        const bytes = Buffer.from(reply);
        const { usage, certainty } = extract(of, bytes.subarray(cut % (bytes.length + 1)), type);
        expect(usage === null).toBe(certainty === 'none');
        for (const value of Object.values(usage ?? {})) expect(Number.isFinite(value) && value >= 0).toBe(true);
      },
    ),
    { numRuns: tries(3_000) },
  );
});

test('any usage is found again in any reply around it', () => {
  const counts = fc.record({ prompt_tokens: fc.maxSafeNat(), completion_tokens: fc.maxSafeNat() });
  fc.assert(
    fc.property(fc.jsonValue(), counts, fc.string(), (before, usage, after) => {
      const { usage: found } = extract('chat', { before: JSON.stringify(before), usage, after });
      expect(found).toEqual({ inputTokens: usage.prompt_tokens, outputTokens: usage.completion_tokens });
    }),
    { numRuns: tries(1_000) },
  );
});
