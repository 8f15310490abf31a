/**
 * Estimates the prompt of a request from its body: the only walk of all APIs, which name no more than the members of
 * theirs. Pure.
 */
import { isObject } from '../../../contract/is-object.ts';
import { boundedPattern } from '../../../ground/bounded-pattern.ts';
import { parseObject } from '../../json/parse-object.ts';
import { estimateTokens } from './estimate-tokens.ts';
import { type MediaKind, mediaTokens, mostMediaTokens } from './media-tokens.ts';
import { type Payload, payloadsIn } from './payloads.ts';

/** The top-level members of a request that a model reads. */
export interface PromptMembers {
  /** Texts and messages. */
  readonly prompts: readonly string[];
  /** What it reads as JSON, such as tools. */
  readonly schemas: readonly string[];
}

type Fields = Record<string, unknown>;

const tokensPerMessage = 4;
/** English text has about four bytes per token. */
const bytesPerToken = 4;

/** Members that models do not read as text, of all APIs; signatures and what is encrypted included. */
const unread = new Set([
  ...[
    'type',
    'role',
    'id',
    'call_id',
    'tool_call_id',
    'tool_use_id',
    'data',
    'file_data',
    'image_url',
    'url',
    'detail',
  ],
  ...['media_type', 'mimeType', 'mime_type', 'fileUri', 'file_uri', 'file_id', 'format', 'cache_control'],
  ...['signature', 'thoughtSignature', 'thought_signature', 'encrypted_content'],
]);
/** Arguments and results of calls, with names of their own: the model reads all of them. */
const asJson = new Set(['input', 'args', 'response']);

/**
 * `json`: the body, one JSON object in UTF-8. Null if it cannot be parsed or contains no prompt. A long body is not parsed
 * but estimated by its length and samples of its text.
 */
export function estimatePrompt(json: Buffer, { prompts, schemas }: PromptMembers): number | null {
  const payloads = payloadsIn(json);
  const inPayloads = sumOf(payloads, mediaTokens);
  const text = textAround(json, payloads);
  const textBytes = text.reduce((sum, { length }) => sum + length, 0);
  if (textBytes > parsedBytes) return Math.ceil(tokensByLength(text, textBytes) + inPayloads);
  const body = parseObject(text.map((piece) => piece.toString('utf8')).join(''));
  if (body === null) return null;
  const inPrompts = sum(prompts.map((name) => tokensOf(body[name])));
  // A picture alone is a prompt without text.
  if (inPrompts === 0 && inPayloads === 0) return null;
  const described = schemas.map((name) => body[name]).filter((value) => typeof value === 'object' && value !== null);
  return Math.ceil(inPrompts + inPayloads + sum(described.map((value) => estimateTokens(JSON.stringify(value)))));
}

/** A rough estimate without parsing, for reservations. `json` is null for a form. */
export function likelyPromptTokens({ size, captured }: { size: number; captured: Buffer | null }): number {
  const payloads = captured === null ? [] : payloadsIn(captured);
  return Math.min(
    Math.ceil((size - bytesOf(payloads)) / bytesPerToken + sumOf(payloads, mediaTokens)),
    maxLikelyTokens,
  );
}

/** More is rarely sent. */
const maxLikelyTokens = 32_000;

/** The most tokens that the prompt can have: at least one byte per token, except within media. */
export function mostPromptTokens(json: Buffer): number {
  const payloads = payloadsIn(json);
  return Math.ceil(json.length - bytesOf(payloads) + sumOf(payloads, mostMediaTokens));
}

/** The most tokens of the prompt that can be sound: of all media but pictures, since a film has sound, and a type may be wrong. */
export function mostHeardTokens(json: Buffer): number {
  return Math.ceil(
    sumOf(
      payloadsIn(json).filter(({ kind }) => kind !== 'image'),
      mostMediaTokens,
    ),
  );
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

function bytesOf(payloads: readonly Payload[]): number {
  return payloads.reduce((total, { start, end }) => total + end - start, 0);
}

function sumOf(payloads: readonly Payload[], tokens: (kind: MediaKind, base64Bytes: number) => number): number {
  return payloads.reduce((total, { kind, start, end }) => total + tokens(kind, end - start), 0);
}

/** Bounded in depth; anything nested deeper than a prompt can be is ignored. */
function tokensOf(value: unknown, depth = 0): number {
  if (typeof value === 'string') return estimateTokens(value);
  if (depth > 12) return 0;
  if (Array.isArray(value)) return tokensOfList(value, depth);
  if (!isObject(value)) return 0;
  let tokens = ('role' in value ? tokensPerMessage : 0) + tokensOfMedium(value);
  for (const [name, member] of Object.entries(value)) {
    if (unread.has(name)) continue;
    tokens +=
      asJson.has(name) && isObject(member) ? estimateTokens(JSON.stringify(member)) : tokensOf(member, depth + 1);
  }
  return tokens;
}

/** A prompt may be given as a list of tokens. */
function tokensOfList(list: unknown[], depth: number): number {
  if (typeof list[0] === 'number') return list.length;
  return sum(list.map((item) => tokensOf(item, depth + 1)));
}

/** Of a medium that the part only refers to, or whose data, which are counted elsewhere, are to be seen in less detail. */
function tokensOfMedium(part: Fields): number {
  const { type, source, image_url: picture, fileData, file_data: file } = part;
  if (type === 'image_url' || type === 'input_image') {
    const { url, detail } = isObject(picture) ? picture : { url: picture, detail: part.detail };
    const tokens = mediaTokens('image', 0, detail);
    return isDataUrl(url) ? tokens - mediaTokens('image', 0) : tokens;
  }
  if (type === 'image' || type === 'document') {
    const isReferred = isObject(source) && (source.type === 'url' || source.type === 'file');
    return isReferred ? mediaTokens(type, 0) : 0;
  }
  const isFile = (type === 'input_file' && (part.file_url ?? part.file_id) != null) || isObject(fileData ?? file);
  return isFile ? mediaTokens('document', 0) : 0;
}

const dataUrl = boundedPattern(/^data:/i);

function isDataUrl(url: unknown): boolean {
  return typeof url === 'string' && dataUrl.test(url.slice(0, 5));
}

/** Longer prompts are not parsed; this takes about ten milliseconds at worst. */
const parsedBytes = 128 * 1024;

function textAround(json: Buffer, payloads: readonly Payload[]): Buffer[] {
  const text: Buffer[] = [];
  let from = 0;
  for (const { start, end } of payloads) {
    text.push(json.subarray(from, start));
    from = end;
  }
  text.push(json.subarray(from));
  return text;
}

const samples = 8;
const sampleBytes = 4096;

/** Extrapolates from samples spread over the text. */
function tokensByLength(text: readonly Buffer[], textBytes: number): number {
  const stride = textBytes / samples;
  let passedBytes = 0;
  let sampledBytes = 0;
  let tokens = 0;
  let wantedAt = 0;
  for (const piece of text) {
    for (; wantedAt < passedBytes + piece.length; wantedAt += stride) {
      const start = Math.floor(wantedAt - passedBytes);
      const sample = piece.subarray(start, start + sampleBytes);
      sampledBytes += sample.length;
      tokens += estimateTokens(sample.toString('utf8'));
    }
    passedBytes += piece.length;
  }
  return Math.round((tokens * textBytes) / sampledBytes);
}
