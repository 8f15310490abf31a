/**
 * Decides whether a whole response with a success status is an answer. A response that is complete by its framing, and
 * begins and ends as JSON, is an answer whatever it says; only what cannot be an answer of its wire is rejected
 * (`docs/responses.md`).
 */

import { isObject } from '../../../contract/is-object.ts';
import { boundedPattern } from '../../../ground/bounded-pattern.ts';
import { JsonNames } from '../../json/json-names.ts';
import { peekJson } from '../../json/json-peek.ts';
import type { HeaderFields } from '../headers.ts';
import type { Verdict, WholeFormat, Wire } from '../wire.ts';

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
const scannedBytes = 16 * 1024;
/** How much of the beginning of a longer answer is examined. */
const beginningBytes = 4 * 1024;
/** Longer errors are not parsed. */
const maxErrorBytes = 1024 * 1024;
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
  return pageBeginning.test(body.toString('latin1', 0, 64)) ? page : answer;
}

/** What is labelled JSON but is no JSON may be the requested text itself, unless it began as JSON and was cut. */
export function isOtherText(body: Buffer): boolean {
  return !documentBeginning.test(body.toString('latin1', 0, 64));
}

/** Judges audio and video. */
export function readMedia(body: Buffer): Verdict {
  return body.length === 0 ? empty : answer;
}

/**
 * Judges decompressed JSON. `isFramed`: its length or last chunk shows that it is complete; otherwise it ended with the
 * connection, as a broken one does too.
 */
export function readJson(body: Buffer, wire: Wire, isFramed: boolean): Verdict {
  const first = body[firstNoBlank(body)];
  if (first === undefined) return empty;
  if (body.length <= scannedBytes) return isPlainAnswer(body, wire.whole) ? answer : readParsed(body, wire);
  if (first === openBracket) return body.length <= maxErrorBytes ? readParsed(body, wire) : damaged;
  if (first !== openBrace || body[lastNoBlank(body)] !== closeBrace) return damaged;
  if (!isFramed && body.length <= maxUnframedBytes && !peekJson(body, noNames).ok) return damaged;
  const beginning = body.toString('latin1', 0, beginningBytes);
  if (errorOnTop.test(beginning) && body.length <= maxErrorBytes) return readParsed(body, wire);
  return answer;
}

/**
 * Whether the first megabyte of unfinished JSON may be the beginning of an answer: its document has not ended, and if a
 * longer one may pass before its end, it contains one of the wire's marks. Of an answer that is held to its end, the
 * marks may come last.
 */
export function isPlausibleBeginning(beginning: Buffer, { whole }: Wire): boolean {
  if (!whole.isNeverLonger && !whole.marks.some((mark) => beginning.includes(mark))) return false;
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
const documentBeginning = boundedPattern(/^(?:\xef\xbb\xbf)?\s{0,60}(?:\{\s{0,60}"|\[\s{0,60}[{"]|")/);
const errorOnTop = boundedPattern(/^(?:\xef\xbb\xbf)?\s{0,60}\{\s{0,60}"error"\s{0,60}:\s{0,60}[{"]/);
const jsonType = boundedPattern(/^application\/(?:[\w.+-]{1,100}\+)?json\b/i);
const anyText = boundedPattern(/^text\/(?!event-stream\b)/i);
const htmlType = boundedPattern(/^text\/html\b/i);
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const quote = 0x22;
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

const markNames = new WeakMap<readonly string[], JsonNames>();

function namesOf(marks: readonly string[]): JsonNames {
  const known = markNames.get(marks);
  if (known) return known;
  const names = new JsonNames(marks.map((mark) => mark.slice(1, -1)));
  markNames.set(marks, names);
  return names;
}

/**
 * Whether it is complete JSON with a member that every answer of the wire has, and nothing in it is called an error. There
 * is nothing to judge then, and scanning an answer costs less than half of parsing it.
 */
function isPlainAnswer(body: Buffer, { marks }: WholeFormat): boolean {
  if (body.includes(errorName)) return false;
  const peek = peekJson(body, namesOf(marks));
  return peek.ok && peek.fields.size > 0;
}

/** Undefined if it is not JSON. */
function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8', firstNoBlank(body)));
  } catch {
    return undefined;
  }
}

function readParsed(body: Buffer, wire: Wire): Verdict {
  const value = parse(body);
  if (value === undefined) return damaged;
  // Google sends an error as a list of one element.
  const top = Array.isArray(value) ? value[0] : value;
  if (!isObject(top) || Object.keys(top).length === 0) return meaningless;
  return wire.whole.judge(top);
}
