/** What the demo says, for every route that answers with words. */
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { crc32, deflate } from 'node:zlib';
import { isObject } from '../contract/is-object.ts';

const introduction = "This is Sluice's built-in demo provider: no language model is behind it.";

/**
 * One short text, without anything that a coding agent could take for an edit, a path or a command: aider once wrote a
 * file from an answer that repeated its prompt.
 */
function answerTo(messages: unknown): string {
  return `${introduction} You wrote${quoted(latestQuestion(messages))}. To get real answers, add a provider in Sluice.`;
}

/** Tokens of up to four characters, each with the white space before it. Joined, they give the text. */
function tokensOf(text: string): string[] {
  return text.match(/\s*\S{1,4}|\s+$/gu) ?? [];
}

const charactersPerToken = 4;

/** An estimate for any part of a request. */
function inputTokensOf(part: unknown): number {
  return Math.ceil((JSON.stringify(part) ?? '').length / charactersPerToken);
}

/** The text of the user's latest message, whose content is a text or a list of parts. */
function latestQuestion(messages: unknown): string {
  const users = Array.isArray(messages) ? messages.filter(isObject).filter(({ role }) => role === 'user') : [];
  const content = users.at(-1)?.content;
  const parts = (Array.isArray(content) ? content : [{ text: content }]).filter(isObject);
  return parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])).join('\n');
}

const maxQuotedWords = 8;
const plainWord = /^[\p{L}\p{N}][\p{L}\p{N}'’-]{0,30}[,.;:!?]?$/u;

/** The first plain words of the last line. */
function quoted(text: string): string {
  const line = text.trimEnd().split('\n').at(-1) ?? '';
  const words = line
    .slice(0, 1_000)
    .split(/\s+/)
    .filter((word) => plainWord.test(word));
  if (words.length === 0) return ' something';
  return `: "${words.slice(0, maxQuotedWords).join(' ')}${words.length > maxQuotedWords ? ' …' : ''}"`;
}

/**
 * `POST /chat/completions`, whole and streamed. Responses are translated to it, as for any provider that has chat
 * alone.
 */
export function completeChat({ fields, now }: Call): Reply {
  const { messages, model, stream, stream_options: options } = fields;
  const answer = tokensOf(asAsked(fields, answerTo(messages)));
  const tokens = answer.slice(0, Number(fields.max_completion_tokens ?? fields.max_tokens ?? answer.length));
  const finish = tokens.length < answer.length ? 'length' : 'stop';
  const head = { id: newId('chatcmpl-'), created: Math.floor(now() / 1000), model };
  const usage = usageOf(inputTokensOf(messages), tokens.length);
  if (stream === true) {
    const withUsage = isObject(options) && options.include_usage === true;
    return events(chunks({ head, tokens, finish, usage: withUsage ? usage : null }));
  }
  const message = { role: 'assistant', content: tokens.join(''), refusal: null, annotations: [] };
  const choice = { index: 0, message, logprobs: null, finish_reason: finish };
  return json({ ...head, object: 'chat.completion', choices: [choice], usage });
}

/** An object if the client will parse the answer. The demo fits it to no schema. */
function asAsked({ response_format: format }: Call['fields'], text: string): string {
  const isJson = isObject(format) && String(format.type).startsWith('json');
  return isJson ? JSON.stringify({ message: text }) : text;
}

function usageOf(promptTokens: number, completionTokens: number) {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  };
}

interface ChatStream {
  /** The fields that every chunk repeats. */
  head: object;
  tokens: readonly string[];
  finish: string;
  /** Sent as a last chunk without choices; null if the client did not ask for it. */
  usage: object | null;
}

function* chunks({ head, tokens, finish, usage }: ChatStream): Generator<ServerEvent> {
  const chunk = (fields: object) => ({ data: { ...head, object: 'chat.completion.chunk', ...fields } });
  const choice = (delta: object, reason: string | null = null) =>
    chunk({ choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }] });
  yield choice({ role: 'assistant', content: '' });
  for (const content of tokens) yield choice({ content });
  yield choice({}, finish);
  if (usage) yield chunk({ choices: [], usage });
  yield { data: '[DONE]' };
}

const usualDimensions = 1536;
const maxDimensions = 4096;

/** `POST /embeddings`. The same text always has the same vector, of length 1; texts that share words are close. */
export function embed({ fields: { input, model, dimensions, encoding_format: format } }: Call): Reply {
  if (input === undefined) throw new DemoError(400, "Missing required parameter: 'input'.");
  const length = Math.min(Math.max(Math.trunc(Number(dimensions ?? usualDimensions)) || 1, 1), maxDimensions);
  // A list of numbers is one text in tokens.
  const texts = Array.isArray(input) && typeof input[0] !== 'number' ? input : [input];
  const data = texts.map((text, index) => {
    const vector = vectorOf(String(text), length);
    return { object: 'embedding', index, embedding: format === 'base64' ? inBase64(vector) : vector };
  });
  const tokens = inputTokensOf(input);
  return json({ object: 'list', data, model, usage: { prompt_tokens: tokens, total_tokens: tokens } });
}

/** Counts the text's words in places that their hashes choose ("feature hashing"). */
function vectorOf(text: string, dimensions: number): number[] {
  const vector = new Array<number>(dimensions).fill(0);
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [text]) {
    const place = createHash('sha256').update(word).digest().readUInt32LE() % dimensions;
    vector[place] = (vector[place] ?? 0) + 1;
  }
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

/** Little-endian float32 on any machine. */
function inBase64(vector: readonly number[]): string {
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4);
  return bytes.toString('base64');
}

const compress = promisify(deflate);
const usualSide = 1024;
const maxSide = 2048;

/**
 * `POST /images/generations` and `/images/edits`: a colour gradient as PNG (RFC 2083), whatever the prompt or picture.
 */
export const generateImage = (call: Call) => answerWith(call, 'image_generation.completed');
export const editImage = (call: Call) => answerWith(call, 'image_edit.completed');

async function answerWith({ fields, now }: Call, event: string): Promise<Reply> {
  const [width, height] = sizeOf(fields.size);
  const image = { b64_json: (await drawPicture(width, height)).toString('base64') };
  const created = Math.floor(now() / 1000);
  const described = { size: `${width}x${height}`, output_format: 'png' };
  if (isTrue(fields.stream)) return typedEvents({ type: event, created_at: created, ...image, ...described });
  return json({ created, data: [image], ...described });
}

/** As asked in `WIDTHxHEIGHT`; a square for anything else. */
function sizeOf(size: unknown): [width: number, height: number] {
  const [, width, height] = /^(\d{1,4})x(\d{1,4})$/.exec(String(size)) ?? [];
  const side = (text: string | undefined) => Math.min(Math.max(Number(text ?? usualSide), 1), maxSide);
  return [side(width), side(height)];
}

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const bitsPerChannel = 8;
const rgb = 2;

async function drawPicture(width: number, height: number): Promise<Buffer> {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([bitsPerChannel, rgb], 8);
  const rows = Array.from({ length: height }, (_, y) => {
    // The zero says that the row is not filtered.
    const shade = Math.round((255 * y) / height);
    return Buffer.concat([Buffer.alloc(1), Buffer.alloc(width * 3, Buffer.from([255 - shade, 128, shade]))]);
  });
  const data = await compress(Buffer.concat(rows), { level: 1 });
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', data), chunk('IEND', Buffer.alloc(0))]);
}

function chunk(type: string, data: Buffer): Buffer {
  const bytes = Buffer.alloc(data.length + 12);
  bytes.writeUInt32BE(data.length, 0);
  bytes.write(type, 4, 'latin1');
  data.copy(bytes, 8);
  bytes.writeUInt32BE(crc32(bytes.subarray(4, data.length + 8)), data.length + 8);
  return bytes;
}

const samplesPerSecond = 24_000;
const tone = Array.from({ length: samplesPerSecond }, (_, index) => {
  // Fades in and out, so that it has no clicks.
  const fade = Math.sin((Math.PI * index) / samplesPerSecond);
  return Math.round(12_000 * fade * Math.sin((2 * Math.PI * 440 * index) / samplesPerSecond));
});

/**
 * The routes for audio: speech is one second of a tone as WAV, and what is heard is always the same sentence.
 *
 * OpenAI's default format is mp3; the demo sends WAV, and the samples alone if it is asked for `pcm`.
 */
export function speak({ fields: { response_format: format, stream_format: streamFormat } }: Call): Reply {
  const samples = Buffer.from(Int16Array.from(tone).buffer);
  const sound = format === 'pcm' ? samples : wavOf(samples);
  if (streamFormat !== 'sse') return binary(sound, format === 'pcm' ? 'audio/pcm' : 'audio/wav');
  return typedEvents({ type: 'speech.audio.delta', audio: sound.toString('base64') }, { type: 'speech.audio.done' });
}

/** 16-bit mono. */
function wavOf(samples: Buffer): Buffer {
  const header = Buffer.alloc(44);
  header.write('RIFF', 0);
  header.writeUInt32LE(36 + samples.length, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(samplesPerSecond, 24);
  header.writeUInt32LE(samplesPerSecond * 2, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36);
  header.writeUInt32LE(samples.length, 40);
  return Buffer.concat([header, samples]);
}

/** Transcriptions, and translations, which have no streams. */
export function listen({ fields: { stream, response_format: format } }: Call): Reply {
  const text = `${introduction} It cannot listen.`;
  if (isTrue(stream)) {
    return typedEvents({ type: 'transcript.text.delta', delta: text }, { type: 'transcript.text.done', text });
  }
  const isText = typeof format === 'string' && !format.includes('json');
  return isText ? binary(Buffer.from(`${text}\n`), 'text/plain; charset=utf-8') : json({ text });
}

// The answers and errors of the demo's routes, and how they are written to the socket.

/** One server-sent event. `name` writes an `event:` line; chat streams have none. */
interface ServerEvent {
  name?: string;
  data: object | '[DONE]';
}

export type Reply =
  | { kind: 'bytes'; status: number; contentType: string; bytes: Uint8Array }
  | { kind: 'events'; events: Iterable<ServerEvent> };

/** Sent in OpenAI's form. */
export class DemoError extends Error {
  readonly status: number;
  readonly code: string | null;

  constructor(status: number, message: string, code: string | null = null) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** A random id in OpenAI's form: `chatcmpl-…`. */
export function newId(prefix: string): string {
  return prefix + randomBytes(16).toString('hex');
}

export function json(body: object, status = 200): Reply {
  return { kind: 'bytes', status, contentType: 'application/json', bytes: Buffer.from(JSON.stringify(body)) };
}

export function binary(bytes: Uint8Array, contentType: string): Reply {
  return { kind: 'bytes', status: 200, contentType, bytes };
}

function events(source: Iterable<ServerEvent>): Reply {
  return { kind: 'events', events: source };
}

/** Events that carry their own `type`, which the `event:` line repeats. */
function typedEvents(...data: { type: string; [field: string]: unknown }[]): Reply {
  return events(data.map((each) => ({ name: each.type, data: each })));
}

export function refusal(error: unknown): Reply {
  const { status, message, code } =
    error instanceof DemoError ? error : new DemoError(500, `The demo provider failed: ${String(error)}`);
  const type = status < 500 ? 'invalid_request_error' : 'server_error';
  return json({ error: { message, type, param: null, code } }, status);
}

/** Pause between two events: about 200 tokens a second, the speed of a fast model. */
const eventPauseMs = 5;

export async function sendReply(response: ServerResponse, reply: Reply): Promise<void> {
  if (reply.kind === 'events') return sendEvents(response, reply.events);
  const { status, contentType, bytes } = reply;
  response.writeHead(status, { 'content-type': contentType, 'content-length': bytes.byteLength });
  response.end(bytes);
}

async function sendEvents(response: ServerResponse, source: Iterable<ServerEvent>): Promise<void> {
  // Once the client has left, `drain` never comes; the signal ends the wait.
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' });
  try {
    for (const event of source) {
      if (!response.write(textOf(event))) await once(response, 'drain', { signal: gone.signal });
      await pause(eventPauseMs, undefined, { signal: gone.signal });
    }
    response.end();
  } catch {
    // A broken connection is the only sign that a stream is incomplete.
    response.destroy();
  }
}

function textOf({ name, data }: ServerEvent): string {
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  return name ? `event: ${name}\ndata: ${text}\n\n` : `data: ${text}\n\n`;
}

export interface Call {
  /** The video that the path names; empty if it names none. */
  readonly id: string;
  /** The body's fields, from JSON or a form. A form's values are texts and files; of a repeated one the last counts. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Milliseconds since 1970. */
  now(): number;
}

/** @throws DemoError if the body is malformed */
export async function readFields(request: IncomingMessage): Promise<Call['fields']> {
  if (request.method !== 'POST') return {};
  const contentType = request.headers['content-type'] ?? '';
  const bytes = await buffer(request);
  try {
    const fields: unknown = contentType.startsWith('multipart/form-data')
      ? Object.fromEntries(await formOf(bytes, contentType))
      : JSON.parse(bytes.toString());
    if (isObject(fields)) return fields;
  } catch {
    // Refused below, like JSON that is no object.
  }
  throw new DemoError(400, 'We could not parse the body of your request: it has to be a JSON object or a form.');
}

function formOf(bytes: Buffer, contentType: string): Promise<FormData> {
  return new Response(new Uint8Array(bytes), { headers: { 'content-type': contentType } }).formData();
}

/** A boolean of JSON, or its text in a form. */
function isTrue(value: unknown): boolean {
  return value === true || value === 'true';
}
