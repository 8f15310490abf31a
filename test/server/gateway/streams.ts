/** Event streams as upstreams send them, byte for byte, with the routes that answer with them. */
import { fixture } from '../../support/fixtures.ts';

export interface StreamSample {
  name: string;
  /** Below `/v1`. */
  path: string;
  /** The request without `stream: true`. It is a form if `form` is set. */
  body: Record<string, unknown>;
  form?: true;
  bytes: Buffer;
}

export function chunk(delta: object, finish: string | null = null, more: object = {}) {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: 'gpt-x',
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
    ...more,
  };
}

export const chatUsage = {
  prompt_tokens: 19,
  completion_tokens: 10,
  total_tokens: 29,
  prompt_tokens_details: { cached_tokens: 3 },
  completion_tokens_details: { reasoning_tokens: 4 },
};

/** A chat stream for which usage was requested, and the same stream without usage. */
export const chatWithUsage = fixture('openai-chat/with-usage.sse').toString();
export const chatWithoutUsage = fixture('openai-chat/without-usage.sse').toString();

export function responseObject(status: string, more: object = {}) {
  return {
    id: 'resp_1',
    object: 'response',
    created_at: 1_700_000_000,
    status,
    error: null,
    model: 'gpt-x',
    output: [],
    ...more,
  };
}

export const responsesUsage = {
  input_tokens: 11,
  input_tokens_details: { cached_tokens: 2 },
  output_tokens: 5,
  output_tokens_details: { reasoning_tokens: 1 },
  total_tokens: 16,
};

/** The events of a typed stream, parsed. */
function eventsOf(name: string): { type: string }[] {
  const lines = fixture(name).toString().split('\n');
  return lines.filter((line) => line.startsWith('data: ')).map((line) => JSON.parse(line.slice('data: '.length)));
}

export const responsesEvents = eventsOf('openai-responses/message.sse');

const chat = { path: '/chat/completions', body: { model: 'gpt-x', messages: [{ role: 'user', content: 'Hi' }] } };
const asked = { ...chat, body: { ...chat.body, stream_options: { include_usage: true } } };
const responses = { path: '/responses', body: { model: 'gpt-x', input: 'Hi' } };

/** Small enough to be cut at every byte. */
export const samples: StreamSample[] = [
  { ...asked, name: 'chat with usage', bytes: fixture('openai-chat/with-usage.sse') },
  {
    ...chat,
    name: 'chat with tools, reasoning and the first chunk of Azure',
    bytes: fixture('openai-chat/tools-and-reasoning.sse'),
  },
  { ...chat, name: 'chat with CRLF and several lines of data', bytes: fixture('openai-chat/crlf-and-lines.sse') },
  {
    ...chat,
    name: 'chat with comments, ids, no space after the colon and no last blank line',
    bytes: fixture('openai-chat/comments-and-ids.sse'),
  },
  {
    path: '/completions',
    body: { model: 'gpt-x', prompt: 'Once', stream_options: { include_usage: true } },
    name: 'completions',
    bytes: fixture('openai-completions/with-usage.sse'),
  },
  { ...responses, name: 'responses in full order', bytes: fixture('openai-responses/message.sse') },
  { ...responses, name: 'responses with [DONE]', bytes: fixture('openai-responses/crlf-and-done.sse') },
  {
    path: '/images/generations',
    body: { prompt: 'A cat', model: 'gpt-x' },
    name: 'images',
    bytes: fixture('openai-images/generation.sse'),
  },
  {
    path: '/images/edits',
    body: { prompt: 'A cat', model: 'gpt-x', images: [{ image_url: 'https://example.com/cat.png' }] },
    name: 'image edits',
    bytes: fixture('openai-images/edit.sse'),
  },
  {
    path: '/audio/transcriptions',
    body: { model: 'gpt-x' },
    form: true,
    name: 'transcription without event lines',
    bytes: fixture('openai-transcriptions/text.sse'),
  },
  {
    path: '/audio/speech',
    body: { model: 'gpt-x', input: 'Hi', voice: 'alloy', stream_format: 'sse' },
    name: 'speech',
    bytes: fixture('openai-speech/audio.sse'),
  },
];

export const isUtf8 = 'text/event-stream; charset=utf-8';

/** A request for the sample's stream. */
export function askFor(sample: StreamSample): RequestInit {
  if (!sample.form) {
    return {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...sample.body, stream: true }),
    };
  }
  const form = new FormData();
  form.set('file', new Blob(['RIFF']), 'a.wav');
  for (const [name, value] of Object.entries(sample.body)) form.set(name, String(value));
  form.set('stream', 'true');
  return { method: 'POST', body: form };
}
