/**
 * Decides whether a whole response with a success status is an answer. A response that is complete by its framing, and
 * begins and ends as JSON, is an answer whatever it says; only what cannot be an answer of its wire is rejected
 * (`docs/responses.md`).
 */

import { isObject } from '../../../contract/is-object.ts';
import { boundedPattern } from '../../../ground/bounded-pattern.ts';
import { JsonNames } from '../../json/json-names.ts';
import { peekJson } from '../../json/json-peek.ts';
import { endOfString } from '../../json/json-scan.ts';
import type { HeaderFields, Verdict, WholeFormat, Wire } from '../wire.ts';

/** What determines how a response is read: the request and the response's headers. */
interface ResponseKind {
  wire: Wire;
  headers: HeaderFields;
  /** The client asked for a transcript as text or subtitles. */
  isTextAsked: boolean;
}

/** How a response is read. The content type matters only for audio, video and requested text. */
export type ResponseFormat = 'json' | 'text' | 'media';

/** Longer answers are only examined at their beginning and end. */
const parsedBytes = 16 * 1024;
/** How much of the beginning of a longer answer is examined. */
const beginningBytes = 4 * 1024;
/** Longer errors are not parsed. */
const maxErrorBytes = 1024 * 1024;
/** Longer answers are not searched for raw control characters, which pretty printing has between its members as well. */
const maxDoubtedBytes = 256 * 1024;
/** Longer answers without a stated length are not scanned. */
const maxUnframedBytes = 2 * 1024 * 1024;

export function hasJsonContentType(headers: HeaderFields): boolean {
  const type = headers['content-type'];
  return typeof type === 'string' && jsonType.test(type);
}

export function formatOf({ wire, headers, isTextAsked }: ResponseKind): ResponseFormat {
  const isMedia = wire.whole.kind === 'media';
  if ((!isTextAsked && !isMedia) || hasJsonContentType(headers)) return 'json';
  return isTextAsked ? 'text' : 'media';
}

/**
 * An HTML page of a portal or proxy, or text in place of audio. Requested text is judged by its beginning instead, since
 * whisper.cpp labels all text as HTML.
 */
export function isUnexpectedText({ wire, headers, isTextAsked }: ResponseKind): boolean {
  const type = headers['content-type'];
  if (isTextAsked || typeof type !== 'string') return false;
  return (wire.whole.kind === 'media' ? anyText : htmlType).test(type);
}

/**
 * whisperX-api-server returns text and subtitles as a JSON string (whisperx-api-server#4), FastAPI's default for strings.
 */
export function isJsonString(body: Buffer): boolean {
  const first = firstNoBlank(body);
  const last = lastNoBlank(body);
  return last > first && body[first] === quote && body[last] === quote;
}

/** Judges requested text. A transcript of silence may be empty. */
export function readText(body: Buffer): Verdict {
  if (!pageBeginning.test(body.toString('latin1', 0, 64))) return answer;
  // Somebody may speak of HTML.
  const [beginning, end] = [body.toString('latin1', 0, beginningBytes), body.toString('latin1', -64)];
  return pagePart.test(beginning) || pageEnd.test(end) ? page : answer;
}

/** What is labelled JSON but is no JSON may be the requested text itself, unless it began as JSON and was cut. */
export function isOtherText(body: Buffer): boolean {
  return !documentBeginning.test(body.toString('latin1', 0, 64));
}

/** Judges audio and video. */
export function readMedia(body: Buffer): Verdict {
  return body.length === 0 ? empty : answer;
}

/** How an answer came, and what becomes of it. */
interface JsonPassage {
  /** Its length or last chunk shows that it is complete; otherwise it ended with the connection, as a broken one does too. */
  isFramed: boolean;
  /** Only the client reads it. */
  passesUnread: boolean;
}

/** Judges decompressed JSON. */
export function readJson(body: Buffer, wire: Wire, { isFramed, passesUnread }: JsonPassage): Verdict {
  const first = body[firstNoBlank(body)];
  if (first === undefined) return empty;
  if (body.length <= parsedBytes) return readParsed(body, wire, passesUnread);
  if (first === openBracket) return body.length <= maxErrorBytes ? readParsed(body, wire, passesUnread) : damaged;
  if (first !== openBrace || body[lastNoBlank(body)] !== closeBrace) return damaged;
  if (!isFramed && body.length <= maxUnframedBytes && !peekJson(body, noNames).ok) return damaged;
  const beginning = body.toString('latin1', 0, beginningBytes);
  const isError = errorOnTop.test(beginning) && body.length <= maxErrorBytes;
  const isDoubtful = body.length <= maxDoubtedBytes && !wire.whole.isNumbers && hasControl(body);
  return isError || isDoubtful ? readParsed(body, wire, passesUnread) : answer;
}

/** JSON in UTF-16, as some proxies of Windows write it (RFC 4627 still allowed it); other bytes as they are. */
export function asUtf8(body: Buffer): Buffer {
  const [first, second] = body;
  const isLittle = (first === 0xff && second === 0xfe) || (first === openBrace && second === 0);
  const isBig = (first === 0xfe && second === 0xff) || (first === 0 && second === openBrace);
  if (!isLittle && !isBig) return body;
  return Buffer.from(new TextDecoder(isLittle ? 'utf-16le' : 'utf-16be').decode(body));
}

/**
 * Whether the first megabyte of unfinished JSON may be the beginning of an answer: its document has not ended, and if a
 * longer one may pass before its end, it contains one of the wire's members. Of an answer that is held to its end,
 * they may come last.
 */
export function isPlausibleBeginning(beginning: Buffer, { whole }: Wire): boolean {
  if (!whole.isNeverLonger && !whole.members.some((name) => beginning.includes(`"${name}"`))) return false;
  const searched = beginning.subarray(0, 16 * beginningBytes);
  const peek = peekJson(searched, noNames);
  if (peek.ok || searched[peek.offset] === quote) return true;
  return peek.offset > searched.length - longestToken;
}

const noNames = new JsonNames([]);
const answer: Verdict = { kind: 'answer' };
const empty: Verdict = { kind: 'damaged', what: 'sent an empty answer' };
const meaningless: Verdict = { kind: 'damaged', what: 'sent an answer that says nothing' };
const damaged: Verdict = { kind: 'damaged', what: 'sent an answer that is no valid JSON' };
const page: Verdict = { kind: 'damaged', what: 'answered with a page of text' };

const pageBeginning = boundedPattern(/^(?:\xef\xbb\xbf)?\s{0,60}<(?:!doctype|html)\b/i);
const pagePart = boundedPattern(/<(?:head|body|title|meta|script|center)\b/i);
const pageEnd = boundedPattern(/<\/html>\s{0,60}$/i);
const documentBeginning = boundedPattern(/^(?:\xef\xbb\xbf)?\s{0,60}(?:\{\s{0,60}"|\[\s{0,60}[{"]|")/);
const errorOnTop = boundedPattern(/^(?:\xef\xbb\xbf)?\s{0,60}\{\s{0,60}"error"\s{0,60}:\s{0,60}[{"]/);
const jsonType = boundedPattern(/^application\/(?:[\w.+-]{1,100}\+)?json\b/i);
const anyText = boundedPattern(/^text\/(?!event-stream\b)/i);
const htmlType = boundedPattern(/^text\/html\b/i);
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const quote = 0x22;
const space = 0x20;
const errorName = Buffer.from('"error"');
/** The longest number or literal that may be cut at the end. For a cut string, the offset is that of its beginning. */
const longestToken = 64;

function firstNoBlank(body: Buffer): number {
  let at = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? 3 : 0;
  while (at < body.length && (body[at] ?? 0) <= 0x20) at++;
  return at;
}

function lastNoBlank(body: Buffer): number {
  let at = body.length - 1;
  while (at >= 0 && (body[at] ?? 0) <= 0x20) at--;
  return at;
}

/**
 * Only in a string they are no JSON, which is what no parser takes. Four bytes at a time, which is three times as fast: a byte
 * below 0x20 is the only one whose highest bit is set by the subtraction and not by itself ("Bit Twiddling Hacks", hasless).
 */
function hasControl(body: Buffer): boolean {
  const beginning = Math.min(body.length, (4 - (body.byteOffset % 4)) % 4);
  const words = new Int32Array(body.buffer, body.byteOffset + beginning, (body.length - beginning) >> 2);
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? 0;
    if ((word - 0x20202020) & ~word & 0x80808080) return true;
  }
  const isControl = (byte: number) => byte < space;
  return body.subarray(0, beginning).some(isControl) || body.subarray(beginning + words.length * 4).some(isControl);
}

/** Undefined if it is not JSON. */
function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8', firstNoBlank(body)));
  } catch {
    return undefined;
  }
}

const oddNumbers = ['NaN', 'Infinity'].map((name) => Buffer.from(name));

/** The same with zeros for what Python writes for numbers that JSON lacks, to judge the rest by; null if there are none. */
function withoutOddNumbers(body: Buffer): Buffer | null {
  let judged: Buffer | null = null;
  for (let at = 0; at < body.length; at++) {
    if (body[at] === quote) {
      at = endOfString(body, at + 1);
      if (at === -1) return null;
    }
    const odd = oddNumbers.find((name) => body[at] === name[0] && body.subarray(at, at + name.length).equals(name));
    if (!odd) continue;
    judged ??= Buffer.from(body);
    judged.fill(' ', at, at + odd.length).write('0', at);
  }
  return judged;
}

/** Whether there is nothing to judge: it has a member that every answer of the wire has, and nothing in it is called an error. */
function isPlainAnswer(value: unknown, body: Buffer, { members }: WholeFormat): value is Record<string, unknown> {
  return isObject(value) && members.some((name) => name in value) && !body.includes(errorName);
}

/** The same of what cannot be parsed although its structure is whole: there is an escape that JSON lacks in one of its strings. */
function hasOddEscape(body: Buffer, { members }: WholeFormat): boolean {
  if (body.includes(errorName) || hasControl(body)) return false;
  const peek = peekJson(body, new JsonNames(members));
  return peek.ok && peek.fields.size > 0;
}

/** @param passesUnread its client may take NaN and infinities */
function readParsed(body: Buffer, wire: Wire, passesUnread: boolean): Verdict {
  const known = parse(body);
  if (isPlainAnswer(known, body, wire.whole)) return { kind: 'answer', document: known };
  if (known === undefined && body.length <= parsedBytes && hasOddEscape(body, wire.whole)) return answer;
  const judged = known === undefined && passesUnread ? withoutOddNumbers(body) : null;
  const value = judged ? parse(judged) : known;
  if (value === undefined) return damaged;
  // Google sends an error as a list of one element.
  const top = Array.isArray(value) ? value[0] : value;
  if (!isObject(top) || Object.keys(top).length === 0) return meaningless;
  return wire.whole.judge(top);
}
