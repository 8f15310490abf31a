/**
 * Finds pictures, documents and recordings in the body of a request of any API, which are base64 and may be megabytes long,
 * without parsing it. Pure.
 */
import { boundedPattern } from '../../../ground/bounded-pattern.ts';
import type { MediaKind } from './media-tokens.ts';

/** Base64 within a JSON text. */
export interface Payload {
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

/** In their order. Searched once for the reservations and estimates of a request. */
export function payloadsIn(json: Buffer): readonly Payload[] {
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
