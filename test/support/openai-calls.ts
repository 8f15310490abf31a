/**
 * A call of each of the thirteen routes that reach a provider, plain and as a stream, with the complete correct answer,
 * byte for byte. A scripted upstream finds the answer to a request with `answerTo`.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SeenRequest } from './upstream.ts';

const folder = join(import.meta.dirname, '../fixtures');

/** An upstream's body, such as `openai-chat/with-usage.sse`. Its origin is described in `test/fixtures/README.md`. */
export function fixture(name: string): Buffer {
  return readFileSync(join(folder, name));
}

/** All names, as `<wire>/<file>`. */
export function fixtureNames(): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && entry.parentPath !== folder)
    .map(({ parentPath, name }) => `${parentPath.slice(folder.length + 1)}/${name}`)
    .sort();
}

export interface WholeAnswer {
  contentType: string;
  bytes: Buffer;
  /** The events of a stream, in order; absent if it is not a stream. */
  events?: readonly string[];
}

type CallKind = 'json' | 'stream' | 'binary';

export interface OpenAiCall {
  /** `chat/completions`, followed by ` (stream)` for a stream. */
  name: string;
  kind: CallKind;
  method: 'GET' | 'POST';
  /** Below `/v1`; `:id` is replaced by a video that was created before. */
  path: string;
  /** The request body; null if there is none. */
  body: ((model: string) => { json: object } | { form: Record<string, string | File> }) | null;
  answer: WholeAnswer;
  /** Whether it must reach the account that owns a video, so that no other can answer instead. */
  isPinned: boolean;
}

/** Whether it makes something that is paid for, and so is not asked again where that may have been made. */
export function isPurchase({ method, path }: OpenAiCall): boolean {
  return method === 'POST' && /^\/(?:images|videos)\b/.test(path);
}

const json = (name: string): WholeAnswer => ({ contentType: 'application/json', bytes: fixture(name) });
const stream = (name: string): WholeAnswer => ({
  contentType: 'text/event-stream; charset=utf-8',
  bytes: fixture(name),
  events: fixture(name)
    .toString()
    .split(/(?<=\n\n)/),
});
const binary = (contentType: string, length: number): WholeAnswer => ({ contentType, bytes: noise(length) });

/** Always the same bytes. They contain every value, so that they are not valid text. */
function noise(length: number): Buffer<ArrayBuffer> {
  const bytes = Buffer.alloc(length);
  for (let index = 0, state = length; index < length; index++) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    bytes[index] = state >> 16;
  }
  return bytes;
}

/** A video as in the answer to `GET /videos/{id}`. */
export function video(id: string, more: object = {}) {
  return { ...JSON.parse(fixture('openai-videos/queued.json').toString()), id, ...more };
}

const wav = () => new File([noise(3_000)], 'speech.wav', { type: 'audio/wav' });
const png = () => new File([noise(2_000)], 'cat.png', { type: 'image/png' });

const post = { method: 'POST', isPinned: false } as const;
const plain = { ...post, kind: 'json' } as const;
const streamed = { ...post, kind: 'stream' } as const;
const pinned = { method: 'GET', body: null, isPinned: true } as const;

const messages = [{ role: 'user', content: 'What does a gateway do?' }];
const usageAsked = { stream: true, stream_options: { include_usage: true } };
const drawing = { prompt: 'A cat' };
const speaking = { input: 'Good morning', voice: 'alloy' };

export const calls: readonly OpenAiCall[] = [
  {
    ...plain,
    name: 'chat/completions',
    path: '/chat/completions',
    body: (model) => ({ json: { model, messages } }),
    answer: json('openai-chat/text.json'),
  },
  {
    ...streamed,
    name: 'chat/completions (stream)',
    path: '/chat/completions',
    body: (model) => ({ json: { model, messages, ...usageAsked } }),
    answer: stream('openai-chat/text.sse'),
  },
  {
    ...plain,
    name: 'completions',
    path: '/completions',
    body: (model) => ({ json: { model, prompt: 'Every' } }),
    answer: json('openai-completions/text.json'),
  },
  {
    ...streamed,
    name: 'completions (stream)',
    path: '/completions',
    body: (model) => ({ json: { model, prompt: 'Every', ...usageAsked } }),
    answer: stream('openai-completions/text.sse'),
  },
  {
    ...plain,
    name: 'responses',
    path: '/responses',
    body: (model) => ({ json: { model, input: 'Hi' } }),
    answer: json('openai-responses/text.json'),
  },
  {
    ...streamed,
    name: 'responses (stream)',
    path: '/responses',
    body: (model) => ({ json: { model, input: 'Hi', stream: true } }),
    answer: stream('openai-responses/text.sse'),
  },
  {
    ...plain,
    name: 'embeddings',
    path: '/embeddings',
    body: (model) => ({ json: { model, input: 'Hi' } }),
    answer: json('openai-embeddings/floats.json'),
  },
  {
    ...plain,
    name: 'images/generations',
    path: '/images/generations',
    body: (model) => ({ json: { model, ...drawing } }),
    answer: json('openai-images/generation.json'),
  },
  {
    ...streamed,
    name: 'images/generations (stream)',
    path: '/images/generations',
    body: (model) => ({ json: { model, ...drawing, stream: true, partial_images: 2 } }),
    answer: stream('openai-images/generation-partials.sse'),
  },
  {
    ...plain,
    name: 'images/edits',
    path: '/images/edits',
    body: (model) => ({ form: { model, ...drawing, image: png() } }),
    answer: json('openai-images/edit.json'),
  },
  {
    ...streamed,
    name: 'images/edits (stream)',
    path: '/images/edits',
    body: (model) => ({ form: { model, ...drawing, stream: 'true', image: png() } }),
    answer: stream('openai-images/edit-partials.sse'),
  },
  {
    ...plain,
    name: 'audio/transcriptions',
    path: '/audio/transcriptions',
    body: (model) => ({ form: { model, file: wav() } }),
    answer: json('openai-transcriptions/seconds.json'),
  },
  {
    ...streamed,
    name: 'audio/transcriptions (stream)',
    path: '/audio/transcriptions',
    body: (model) => ({ form: { model, stream: 'true', file: wav() } }),
    answer: stream('openai-transcriptions/words.sse'),
  },
  {
    ...plain,
    name: 'audio/translations',
    path: '/audio/translations',
    body: (model) => ({ form: { model, file: wav() } }),
    answer: json('openai-transcriptions/translation.json'),
  },
  {
    ...post,
    kind: 'binary',
    name: 'audio/speech',
    path: '/audio/speech',
    body: (model) => ({ json: { model, ...speaking } }),
    answer: binary('audio/mpeg', 20_000),
  },
  {
    ...streamed,
    name: 'audio/speech (stream)',
    path: '/audio/speech',
    body: (model) => ({ json: { model, ...speaking, stream_format: 'sse' } }),
    answer: stream('openai-speech/audio.sse'),
  },
  {
    ...plain,
    name: 'videos',
    path: '/videos',
    body: (model) => ({ form: { model, ...drawing, seconds: '4' } }),
    answer: json('openai-videos/queued.json'),
  },
  {
    ...pinned,
    name: 'videos/:id',
    kind: 'json',
    path: '/videos/:id',
    answer: json('openai-videos/completed.json'),
  },
  {
    ...pinned,
    name: 'videos/:id/content',
    kind: 'binary',
    path: '/videos/:id/content',
    answer: binary('video/mp4', 50_000),
  },
  {
    ...plain,
    name: 'videos/:id/remix',
    path: '/videos/:id/remix',
    body: () => ({ json: { prompt: 'Rain' } }),
    answer: json('openai-videos/remixed.json'),
    isPinned: true,
  },
];

/** A request for the call, below the base URL. */
export function requestFor(call: OpenAiCall, model: string, videoId = ''): { path: string; init: RequestInit } {
  const path = call.path.replace(':id', videoId);
  const body = call.body?.(model);
  if (!body) return { path, init: { method: call.method } };
  if ('json' in body) {
    const headers = { 'content-type': 'application/json' };
    return { path, init: { method: call.method, headers, body: JSON.stringify(body.json) } };
  }
  const form = new FormData();
  for (const [name, value] of Object.entries(body.form)) form.set(name, value);
  return { path, init: { method: call.method, body: form } };
}

const streamAsked = /"stream"\s*:\s*true|"stream_format"\s*:\s*"sse"|name="stream"\r\n\r\ntrue/;

/** The complete correct answer to a request at a path below the base URL; undefined if it is not one of the calls. */
export function answerTo({ method, body }: SeenRequest, path: string): WholeAnswer | undefined {
  const pattern = path.replace(/\?.*$/, '').replace(/^\/videos\/[^/]+/, '/videos/:id');
  const isStream = streamAsked.test(body.toString('latin1'));
  const matches = (call: OpenAiCall) =>
    call.method === method && call.path === pattern && (call.kind === 'stream') === isStream;
  return calls.find(matches)?.answer;
}
