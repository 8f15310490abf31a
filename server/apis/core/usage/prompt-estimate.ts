/**
 * Estimates the prompt of a request from its body: the only walk of all APIs, which name no more than the members of
 * theirs. Pure.
 */
import { isObject } from '../../../contract/is-object.ts';
import { boundedPattern } from '../../../ground/bounded-pattern.ts';
import { parseObject } from '../../json/parse-object.ts';

// Estimates the number of tokens in a text when an upstream does not report it. Pure, and without a vocabulary: a real
// one is megabytes in size, differs between models, and would be loaded for a number that is marked as estimated anyway.
//
// The text is split as byte-pair tokenizers split it before the lookup (words with the preceding space, parts of
// camelCase, runs of digits, punctuation and whitespace, single characters of other scripts), and each piece counts the
// average cost of its kind. The weights are a least-squares fit to `o200k_base` over 800 samples of prose, code and JSON
// in ten languages. On other texts the error is within 6 % for English, Chinese, code and JSON and within 12 % for
// German, Russian and Japanese (`test/server/usage/estimate-tokens.test.ts`). Older vocabularies need more for other
// scripts: `cl100k_base` counts 1.4 to 1.8 times as many tokens for Chinese, Japanese and Russian.

const longestRead = 32 * 1024;
const textSamples = 8;

/** Texts beyond 32 k characters are extrapolated from eight samples. Takes at most 0.3 ms of CPU. */
export function estimateTokens(text: string): number {
  if (text.length <= longestRead) return Math.ceil(weigh(text, 0, text.length));
  const length = longestRead / textSamples;
  const stride = (text.length - length) / (textSamples - 1);
  let sum = 0;
  for (let sample = 0; sample < textSamples; sample += 1) {
    const start = Math.floor(sample * stride);
    sum += weigh(text, start, start + length);
  }
  return Math.ceil((sum * text.length) / longestRead);
}

const weights = {
  word: 0.976,
  wordBeyond8: 0.71,
  /** A word without a preceding space: after punctuation, or a part of camelCase. */
  inner: 1.121,
  innerBeyond6: 0.133,
  threeDigits: 1.648,
  punctuation: 0.752,
  spaces: 0.902,
  lines: 0.262,
  ideograph: 0.877,
  kana: 0.666,
  hangul: 0.739,
  /** Greek, Cyrillic, Hebrew, Arabic. */
  otherAlphabet: 0.28,
  accented: 0.687,
  widePunctuation: 0.302,
  other: 0.265,
};

const lower = 1;
const upper = 2;
const digit = 3;
const space = 4;
const line = 5;
const mark = 6;

const kinds = new Uint8Array(128).map((_, code) => {
  const character = String.fromCharCode(code);
  if (/[a-z]/.test(character)) return lower;
  if (/[A-Z]/.test(character)) return upper;
  if (/[0-9]/.test(character)) return digit;
  if (/[ \t]/.test(character)) return space;
  return /[\r\n]/.test(character) ? line : mark;
});

function weigh(text: string, start: number, end: number): number {
  let sum = 0;
  for (let at = start; at < end; ) {
    const code = text.charCodeAt(at);
    const kind = code < 128 ? (kinds[code] ?? mark) : 0;
    if (kind === 0) {
      sum += weightOfCharacter(code);
      at += 1;
    } else if (kind === lower || kind === upper) {
      const next = endOfWord(text, at, end);
      const isInner = at > start && text.charCodeAt(at - 1) !== 0x20;
      sum += isInner ? innerWeight(next - at) : wordWeight(next - at);
      at = next;
    } else {
      const next = endOfRun(text, at, end, kind);
      sum += weightOfRun(kind, next - at, next < end && kinds[text.charCodeAt(next)] === digit);
      at = next;
    }
  }
  return sum;
}

const wordWeight = (length: number) => weights.word + Math.max(0, length - 8) * weights.wordBeyond8;
const innerWeight = (length: number) => weights.inner + Math.max(0, length - 6) * weights.innerBeyond6;

function weightOfRun(kind: number, length: number, isBeforeDigit: boolean): number {
  if (kind === digit) return Math.ceil(length / 3) * weights.threeDigits;
  if (kind === line) return weights.lines;
  if (kind === mark) return weights.punctuation;
  // A single space belongs to the following word, but not to a number.
  return length > 1 || isBeforeDigit ? weights.spaces : 0;
}

/** A capital after a lowercase letter starts another word. */
function endOfWord(text: string, start: number, end: number): number {
  let last = kinds[text.charCodeAt(start)];
  let at = start + 1;
  for (; at < end; at += 1) {
    const kind = kinds[text.charCodeAt(at)];
    if ((kind !== lower && kind !== upper) || (last === lower && kind === upper)) break;
    last = kind;
  }
  return at;
}

function endOfRun(text: string, start: number, end: number, kind: number): number {
  let at = start + 1;
  while (at < end && kinds[text.charCodeAt(at)] === kind) at += 1;
  return at;
}

function weightOfCharacter(code: number): number {
  if (code >= 0x3400 && code <= 0x9fff) return weights.ideograph;
  if (code >= 0x3040 && code <= 0x30ff) return weights.kana;
  if (code >= 0xac00 && code <= 0xd7af) return weights.hangul;
  if (code >= 0x370 && code <= 0x6ff) return weights.otherAlphabet;
  if (code >= 0xc0 && code <= 0x24f) return weights.accented;
  const isWide = (code >= 0x3000 && code <= 0x303f) || (code >= 0xff00 && code <= 0xffef);
  return isWide || (code >= 0x2010 && code <= 0x2027) ? weights.widePunctuation : weights.other;
}

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

/** Base64 within a JSON text. */
interface Payload {
  start: number;
  end: number;
  kind: MediaKind;
}

/**
 * The beginnings of `;base64,`, at the end of a data URL's beginning, whose letters may be in either case. Node takes three
 * times as long to search for eight bytes as for fewer.
 */
const urlMarks = [';base6', ';BASE6', ';Base6'].map((mark) => Buffer.from(mark));
const restOfUrlMark = '4,';
const urlStart = boundedPattern(/"data:([\w.+/\\-]{0,80})(?:;[^";]{0,60}){0,4}$/i);
const urlBeginningBytes = 256;
/** Members whose whole text is base64: of Anthropic, Gemini and OpenAI's sound; `file_data` at OpenRouter. */
const memberMarks = ['"data', '"file_d'].map((mark) => Buffer.from(mark));
const restOfMemberMark = boundedPattern(/^(?:ata)?"\s{0,40}:\s{0,40}"/);
/** Shorter ones count as text. */
const minBytes = 1024;
/** Beyond them one byte of so many is examined, and a word of text has fewer. */
const sampleStride = 61;
/** How far from the payload the type of its medium is looked for. */
const typeDistanceBytes = 300;
/** More than any request has; the rest counts as text. */
const maxPayloads = 10_000;

const longestRestBytes = 90;
const quote = 0x22;
const backslash = 0x5c;

const known = new WeakMap<Buffer, readonly Payload[]>();

/**
 * Finds pictures, documents and recordings in the body of a request of any API, which are base64 and may be megabytes
 * long, without parsing it. Pure.
 *
 * In their order. Searched once for the reservations and estimates of a request.
 */
function payloadsIn(json: Buffer): readonly Payload[] {
  let payloads = known.get(json);
  if (!payloads) {
    payloads = search(json);
    known.set(json, payloads);
  }
  return payloads;
}

function search(json: Buffer): Payload[] {
  const found: Payload[] = [];
  for (const mark of urlMarks) collect(json, mark, found, ofUrl);
  for (const mark of memberMarks) collect(json, mark, found, ofMember);
  return found.sort((one, other) => one.start - other.start);
}

function collect(
  json: Buffer,
  mark: Buffer,
  found: Payload[],
  read: (json: Buffer, at: number, end: number) => Payload | null,
): void {
  let at = json.indexOf(mark);
  while (at !== -1 && found.length < maxPayloads) {
    const payload = read(json, at, at + mark.length);
    if (payload) found.push(payload);
    at = json.indexOf(mark, payload ? payload.end : at + mark.length);
  }
}

function ofUrl(json: Buffer, at: number, afterMark: number): Payload | null {
  const start = afterMark + restOfUrlMark.length;
  if (json.toString('latin1', afterMark, start) !== restOfUrlMark) return null;
  const beginning = json.toString('latin1', Math.max(0, at - urlBeginningBytes), at);
  const type = urlStart.exec(beginning)?.[1];
  if (type === undefined) return null;
  const end = endOfBase64(json, start);
  return end === -1 ? null : { start, end, kind: kindOf(type) };
}

function ofMember(json: Buffer, _at: number, afterMark: number): Payload | null {
  const rest = restOfMemberMark.exec(json.toString('latin1', afterMark, afterMark + longestRestBytes));
  if (!rest) return null;
  const start = afterMark + rest[0].length;
  const end = endOfBase64(json, start);
  return end === -1 || end - start < minBytes ? null : { start, end, kind: kindOf(objectAround(json, start, end)) };
}

/** -1 if it is not base64: a model might read it as text. */
function endOfBase64(json: Buffer, start: number): number {
  const found = json.indexOf(quote, start);
  const end = found === -1 ? json.length : found;
  const sampledFrom = Math.min(end, start + minBytes);
  for (let at = start; at < sampledFrom; at++) if (!isBase64(json[at] ?? 0)) return -1;
  for (let at = sampledFrom; at < end; at += sampleStride) if (!isBase64(json[at] ?? 0)) return -1;
  return end;
}

/** With the line ends that some encoders write. */
function isBase64(byte: number): boolean {
  const isLetter = (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a;
  return isLetter || (byte >= 0x2f && byte <= 0x39) || byte === 0x2b || byte === 0x3d || byte === backslash;
}

/** The other members of the object that has the payload, as far as they are near. */
function objectAround(json: Buffer, start: number, end: number): string {
  const before = json.toString('latin1', Math.max(0, start - typeDistanceBytes), start);
  const after = json.toString('latin1', end, end + typeDistanceBytes);
  const close = after.indexOf('}');
  return before.slice(before.lastIndexOf('{') + 1) + after.slice(0, close === -1 ? undefined : close);
}

const image = boundedPattern(/image\\?\//i);
const video = boundedPattern(/video\\?\//i);
/** OpenAI states a format in place of a media type. */
const audio = boundedPattern(/audio\\?\/|"format"/i);

function kindOf(type: string): MediaKind {
  if (image.test(type)) return 'image';
  if (video.test(type)) return 'video';
  return audio.test(type) ? 'audio' : 'document';
}

type MediaKind = 'image' | 'document' | 'audio' | 'video';

/** The largest image that Anthropic does not scale down; other services charge less. */
const tokensPerImage = 1_600;
/** OpenAI's image of `detail: low`. */
const tokensPerSmallImage = 85;
/** A page has about 3,000 tokens, including its image, and about 40 kB in base64. */
const tokensPerDocumentByte = 3_000 / 40_000;
/** Speech at 64 kbit/s, whose second has about 11 kB in base64, and 32 tokens at Google, more than elsewhere. */
const tokensPerSoundByte = 32 / 11_000;
/** A film at 1 Mbit/s, whose second has about 170 kB in base64, and 290 tokens at Google. */
const tokensPerFilmByte = 290 / 170_000;

/**
 * How many tokens pictures, documents and recordings have, in every estimate: of reservations, of the ledger, of
 * `count_tokens`, and of the first event of an answer. Pure.
 *
 * `base64Bytes`: 0 if the medium is not in the request.
 */
export function mediaTokens(kind: MediaKind, base64Bytes: number, detail?: unknown): number {
  switch (kind) {
    case 'image':
      return detail === 'low' ? tokensPerSmallImage : tokensPerImage;
    case 'audio':
      return base64Bytes === 0 ? tokensPerImage : base64Bytes * tokensPerSoundByte;
    case 'video':
      return base64Bytes === 0 ? tokensPerImage : base64Bytes * tokensPerFilmByte;
    default:
      return tokensPerImage + base64Bytes * tokensPerDocumentByte;
  }
}

/** No service charges more for a picture, or for what is too short to be anything else. */
const mostTokens = 5_000;
/** A model without eyes or ears might read base64 as text, of which so much is one token. */
const mostImageBytesPerToken = 16;
const mostBytesPerToken = 8;

/** The most tokens that a medium can have. */
function mostMediaTokens(kind: MediaKind, base64Bytes: number): number {
  return mostTokens + base64Bytes / (kind === 'image' ? mostImageBytesPerToken : mostBytesPerToken);
}
