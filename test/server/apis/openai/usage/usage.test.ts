import { describe, expect, test } from 'vitest';
import { type Capability, extract } from '../streams.ts';

const json = 'application/json';
const sse = 'text/event-stream; charset=utf-8';
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
