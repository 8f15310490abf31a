/**
 * Whether a whole answer is what its status says. What is complete by its framing and begins and ends as JSON is the
 * answer, whatever it says; only what is no answer of its wire at all is not (`docs/responses.md`).
 */
import { pattern } from '../bounded-pattern.ts';
import { isObject } from '../contract/is-object.ts';
import type { HeaderFields } from './headers.ts';
import { JsonNames } from './json/json-names.ts';
import { peekJson } from './json/json-peek.ts';
import type { Verdict, Wire } from './wire.ts';

/** What a response is to be, by what was asked for, and what it says it is. */
interface ResponseKind {
  wire: Wire;
  headers: HeaderFields;
  /** A transcript was asked for as text or subtitles. */
  isTextAsked: boolean;
}

/** What a response is read as. Only of sound, films and text that was asked for does it matter what it is called. */
export type ResponseFormat = 'json' | 'text' | 'media';

/** Up to this an answer is parsed. */
const parsedBytes = 16 * 1024;
/** Of a longer one so much of the beginning is looked at. */
const beginningBytes = 4 * 1024;
/** A long error is parsed up to this. */
const maxErrorBytes = 1024 * 1024;
/** An answer that ends with its connection is gone through up to this. */
const maxUnframedBytes = 2 * 1024 * 1024;

export function saysJson(headers: HeaderFields): boolean {
  const type = headers['content-type'];
  return typeof type === 'string' && jsonType.test(type);
}

export function formatOf({ wire, headers, isTextAsked }: ResponseKind): ResponseFormat {
  const isMedia = wire.whole.kind === 'media';
  if ((!isTextAsked && !isMedia) || saysJson(headers)) return 'json';
  return isTextAsked ? 'text' : 'media';
}

/**
 * A page of a portal or proxy, which no API answers with, or text in place of sound. Where text is asked for its
 * beginning tells, for whisper.cpp calls all text HTML.
 */
export function isProse({ wire, headers, isTextAsked }: ResponseKind): boolean {
  const type = headers['content-type'];
  if (isTextAsked || typeof type !== 'string') return false;
  return (wire.whole.kind === 'media' ? anyText : htmlType).test(type);
}

/** How whisperX-api-server tells text and subtitles (whisperx-api-server#4), as whatever FastAPI is given as a string. */
export function isJsonString(body: Buffer): boolean {
  const first = firstNoBlank(body);
  const last = lastNoBlank(body);
  return last > first && body[first] === quote && body[last] === quote;
}

/** Of text that was asked for. A transcript of silence may well be empty. */
export function readText(body: Buffer): Verdict {
  return pageBeginning.test(body.toString('latin1', 0, 64)) ? page : answer;
}

/** Of sound and films. */
export function readMedia(body: Buffer): Verdict {
  return body.length === 0 ? empty : answer;
}

/**
 * Of JSON, decompressed. `isFramed`: its length, or its last chunk, says that it is complete; else it ended with its
 * connection, which a cut does as well.
 */
export function readJson(body: Buffer, wire: Wire, isFramed: boolean): Verdict {
  const first = body[firstNoBlank(body)];
  if (first === undefined) return empty;
  if (body.length <= parsedBytes) return readParsed(body, wire);
  if (first === openBracket) return body.length <= maxErrorBytes ? readParsed(body, wire) : damaged;
  if (first !== openBrace || body[lastNoBlank(body)] !== closeBrace) return damaged;
  if (!isFramed && body.length <= maxUnframedBytes && !peekJson(body, noNames).ok) return damaged;
  const beginning = body.toString('latin1', 0, beginningBytes);
  if (errorOnTop.test(beginning) && body.length <= maxErrorBytes) return readParsed(body, wire);
  return answer;
}

/**
 * Whether the first megabyte of JSON that goes on may be the beginning of an answer: it bears a mark of its wire's
 * answers, and its first document is not over.
 */
export function mayGoOn(beginning: Buffer, wire: Wire): boolean {
  if (!wire.whole.marks.some((mark) => beginning.includes(mark))) return false;
  const looked = beginning.subarray(0, 16 * beginningBytes);
  const peek = peekJson(looked, noNames);
  if (peek.ok || looked[peek.offset] === quote) return true;
  return peek.offset > looked.length - longestToken;
}

const noNames = new JsonNames([]);
const answer: Verdict = { kind: 'answer' };
const empty: Verdict = { kind: 'damaged', what: 'sent an empty answer' };
const meaningless: Verdict = { kind: 'damaged', what: 'sent an answer that says nothing' };
const damaged: Verdict = { kind: 'damaged', what: 'sent an answer that is no valid JSON' };
const page: Verdict = { kind: 'damaged', what: 'answered with a page of text' };

const pageBeginning = pattern(/^(?:\xef\xbb\xbf)?\s{0,60}<(?:!doctype|html)\b/i);
const errorOnTop = pattern(/^(?:\xef\xbb\xbf)?\s{0,60}\{\s{0,60}"error"\s{0,60}:\s{0,60}[{"]/);
const jsonType = pattern(/^application\/(?:[\w.+-]{1,100}\+)?json\b/i);
const anyText = pattern(/^text\/(?!event-stream\b)/i);
const htmlType = pattern(/^text\/html\b/i);
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const quote = 0x22;
/** What may be cut at the end: a word or a number. Of a string that is, the offset is its beginning. */
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

/** Undefined where it is no JSON. */
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
  // Google tells an error as a list of one.
  const top = Array.isArray(value) ? value[0] : value;
  if (!isObject(top) || Object.keys(top).length === 0) return meaningless;
  const verdict = wire.whole.judge(top);
  return verdict.kind === 'answer' && top === value ? { kind: 'answer', document: top } : verdict;
}
