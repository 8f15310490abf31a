/**
 * A call of each of the thirteen routes that reach a provider, plain and as a stream, with the whole right answer to it,
 * byte for byte. Whoever plays an upstream finds the answer by what it was asked: `answerTo`.
 */
import { chatUsage, chunk, responseObject, responsesUsage, speechEvents } from '../server/gateway/streams.ts';
import type { SeenRequest } from './upstream.ts';

export interface WholeAnswer {
  contentType: string;
  bytes: Buffer;
  /** An event stream's, one after the other; absent where it is none. */
  events?: readonly string[];
}

type CallKind = 'json' | 'stream' | 'binary';

export interface OpenAiCall {
  /** `chat/completions`, with ` (stream)` where it is one. */
  name: string;
  kind: CallKind;
  method: 'GET' | 'POST';
  /** Below `/v1`; `:id` stands for a video that was made before. */
  path: string;
  /** What is sent; null for none. */
  body: ((model: string) => { json: object } | { form: Record<string, string | File> }) | null;
  answer: WholeAnswer;
  /** It reaches the account that owns a video, and no other can answer in its place. */
  isPinned: boolean;
}

const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const typed = (value: { type: string }) => `event: ${value.type}\n${data(value)}`;

const json = (value: unknown): WholeAnswer => ({
  contentType: 'application/json',
  bytes: Buffer.from(JSON.stringify(value)),
});
const stream = (events: readonly string[]): WholeAnswer => ({
  contentType: 'text/event-stream; charset=utf-8',
  bytes: Buffer.from(events.join('')),
  events,
});
const binary = (contentType: string, length: number): WholeAnswer => ({ contentType, bytes: noise(length) });

/** Always the same; with every value, so that nothing passes for text. */
function noise(length: number): Buffer<ArrayBuffer> {
  const bytes = Buffer.alloc(length);
  for (let index = 0, state = length; index < length; index++) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    bytes[index] = state >> 16;
  }
  return bytes;
}

const words = ['Every ', 'good ', 'gateway ', 'keeps ', 'its ', 'word \u{1F30D}', '.'];
const text = words.join('');

const chatChunks = [
  chunk({ role: 'assistant', content: '', refusal: null }, null, { usage: null }),
  ...words.map((content) => chunk({ content }, null, { usage: null })),
  chunk({}, 'stop', { usage: null }),
  { ...chunk({}), choices: [], usage: chatUsage },
];

const textChunk = (piece: string, finish_reason: string | null, more: object = {}) => ({
  id: 'cmpl-1',
  object: 'text_completion',
  created: 1_700_000_000,
  model: 'gpt-x',
  choices: [{ text: piece, index: 0, logprobs: null, finish_reason }],
  usage: null,
  ...more,
});

const message = (content: object[]) => ({
  id: 'msg_1',
  type: 'message',
  status: content.length > 0 ? 'completed' : 'in_progress',
  role: 'assistant',
  content,
});
const at = { item_id: 'msg_1', output_index: 0, content_index: 0 };
const part = (whole: string) => ({ type: 'output_text', text: whole, annotations: [] });
const finished = responseObject('completed', { output: [message([part(text)])], usage: responsesUsage });

const responseEvents = [
  { type: 'response.created', response: responseObject('in_progress') },
  { type: 'response.in_progress', response: responseObject('in_progress') },
  { type: 'response.output_item.added', output_index: 0, item: message([]) },
  { type: 'response.content_part.added', ...at, part: part('') },
  ...words.map((delta) => ({ type: 'response.output_text.delta', ...at, delta, logprobs: [] })),
  { type: 'response.output_text.done', ...at, text },
  { type: 'response.content_part.done', ...at, part: part(text) },
  { type: 'response.output_item.done', output_index: 0, item: message([part(text)]) },
  { type: 'response.completed', response: finished },
].map((event, sequence_number) => ({ ...event, sequence_number }));

const picture = noise(600).toString('base64');
const images = {
  created: 1_700_000_000,
  data: [{ b64_json: picture }],
  usage: { input_tokens: 8, output_tokens: 100 },
};
const imageEvents = (verb: string) => [
  { type: `${verb}.partial_image`, partial_image_index: 0, b64_json: picture.slice(0, 400), created_at: 1 },
  { type: `${verb}.partial_image`, partial_image_index: 1, b64_json: picture.slice(0, 600), created_at: 1 },
  { type: `${verb}.completed`, b64_json: picture, created_at: 2, usage: { input_tokens: 8, output_tokens: 100 } },
];

const transcriptEvents = [
  ...words.map((delta) => ({ type: 'transcript.text.delta', delta })),
  {
    type: 'transcript.text.done',
    text,
    usage: { type: 'tokens', input_tokens: 14, output_tokens: 3, total_tokens: 17 },
  },
];

/** As `GET /videos/{id}` tells of one. */
export function video(id: string, more: object = {}) {
  return {
    id,
    object: 'video',
    model: 'gpt-x',
    status: 'queued',
    progress: 0,
    created_at: 1_700_000_000,
    completed_at: null,
    expires_at: null,
    prompt: 'A cat',
    size: '720x1280',
    seconds: '4',
    remixed_from_video_id: null,
    error: null,
    ...more,
  };
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
    answer: json({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1_700_000_000,
      model: 'gpt-x',
      choices: [{ index: 0, message: { role: 'assistant', content: text, refusal: null }, finish_reason: 'stop' }],
      usage: chatUsage,
    }),
  },
  {
    ...streamed,
    name: 'chat/completions (stream)',
    path: '/chat/completions',
    body: (model) => ({ json: { model, messages, ...usageAsked } }),
    answer: stream([...chatChunks.map(data), 'data: [DONE]\n\n']),
  },
  {
    ...plain,
    name: 'completions',
    path: '/completions',
    body: (model) => ({ json: { model, prompt: 'Every' } }),
    answer: json(textChunk(text, 'stop', { usage: chatUsage })),
  },
  {
    ...streamed,
    name: 'completions (stream)',
    path: '/completions',
    body: (model) => ({ json: { model, prompt: 'Every', ...usageAsked } }),
    answer: stream([
      ...words.map((word) => data(textChunk(word, null))),
      data(textChunk('', 'stop')),
      data({ ...textChunk('', null), choices: [], usage: chatUsage }),
      'data: [DONE]\n\n',
    ]),
  },
  {
    ...plain,
    name: 'responses',
    path: '/responses',
    body: (model) => ({ json: { model, input: 'Hi' } }),
    answer: json(finished),
  },
  {
    ...streamed,
    name: 'responses (stream)',
    path: '/responses',
    body: (model) => ({ json: { model, input: 'Hi', stream: true } }),
    answer: stream(responseEvents.map(typed)),
  },
  {
    ...plain,
    name: 'embeddings',
    path: '/embeddings',
    body: (model) => ({ json: { model, input: 'Hi' } }),
    answer: json({
      object: 'list',
      data: [{ object: 'embedding', index: 0, embedding: [0.5, -0.25, 0.125] }],
      model: 'gpt-x',
      usage: { prompt_tokens: 1, total_tokens: 1 },
    }),
  },
  {
    ...plain,
    name: 'images/generations',
    path: '/images/generations',
    body: (model) => ({ json: { model, ...drawing } }),
    answer: json(images),
  },
  {
    ...streamed,
    name: 'images/generations (stream)',
    path: '/images/generations',
    body: (model) => ({ json: { model, ...drawing, stream: true, partial_images: 2 } }),
    answer: stream(imageEvents('image_generation').map(typed)),
  },
  {
    ...plain,
    name: 'images/edits',
    path: '/images/edits',
    body: (model) => ({ form: { model, ...drawing, image: png() } }),
    answer: json({ ...images, created: 1_700_000_001 }),
  },
  {
    ...streamed,
    name: 'images/edits (stream)',
    path: '/images/edits',
    body: (model) => ({ form: { model, ...drawing, stream: 'true', image: png() } }),
    answer: stream(imageEvents('image_edit').map(typed)),
  },
  {
    ...plain,
    name: 'audio/transcriptions',
    path: '/audio/transcriptions',
    body: (model) => ({ form: { model, file: wav() } }),
    answer: json({ text, usage: { type: 'duration', seconds: 3 } }),
  },
  {
    ...streamed,
    name: 'audio/transcriptions (stream)',
    path: '/audio/transcriptions',
    body: (model) => ({ form: { model, stream: 'true', file: wav() } }),
    answer: stream(transcriptEvents.map(data)),
  },
  {
    ...plain,
    name: 'audio/translations',
    path: '/audio/translations',
    body: (model) => ({ form: { model, file: wav() } }),
    answer: json({ text }),
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
    answer: stream(speechEvents.map(typed)),
  },
  {
    ...plain,
    name: 'videos',
    path: '/videos',
    body: (model) => ({ form: { model, ...drawing, seconds: '4' } }),
    answer: json(video('video_made')),
  },
  {
    ...pinned,
    name: 'videos/:id',
    kind: 'json',
    path: '/videos/:id',
    answer: json(video('video_seen', { status: 'completed', progress: 100 })),
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
    answer: json(video('video_remixed', { remixed_from_video_id: 'video_made' })),
    isPinned: true,
  },
];

/** A request of the call, below the base URL. */
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

/** The whole right answer to what an upstream was asked below its base URL; undefined for what is none of the calls. */
export function answerTo({ method, body }: SeenRequest, path: string): WholeAnswer | undefined {
  const pattern = path.replace(/\?.*$/, '').replace(/^\/videos\/[^/]+/, '/videos/:id');
  const isStream = streamAsked.test(body.toString('latin1'));
  const matches = (call: OpenAiCall) =>
    call.method === method && call.path === pattern && (call.kind === 'stream') === isStream;
  return calls.find(matches)?.answer;
}
