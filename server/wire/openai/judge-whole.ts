/** Whether a whole reply is what its status says. Pure. */
import { statusOfError } from '../../routing/classify-failure.ts';
import type { ResponseHeaders } from '../../transport/transport.ts';
import { fieldValue, type JsonField, peekJson } from '../json/json-peek.ts';
import { type Skeleton, skeletonOf } from '../json/json-skeleton.ts';
import type { Route } from '../route.ts';
import { errorIn } from '../upstream-error.ts';

type Verdict =
  | { kind: 'good' }
  /** `what` follows "Provider … ". */
  | { kind: 'damaged'; what: string }
  /** An error in spite of its status; the one that it should have had. */
  | { kind: 'error'; status: number };

const good: Verdict = { kind: 'good' };

/** Up to this a reply is parsed; a longer one is gone through, which makes no strings and takes less time. */
const parsedBytes = 16 * 1024;
/** Numbers take long to be gone through: of more embeddings than this only the beginning is, and the brackets of the rest. */
const glancedFrom = 256 * 1024;
const glancedBytes = 64 * 1024;

/** What a reply is to be, by what was asked for, and what it says it is. */
export interface ResponseKind {
  route: Route;
  headers: ResponseHeaders;
  /** A transcript was asked for as text or subtitles. */
  isTextAsked: boolean;
}

export function saysJson(headers: ResponseHeaders): boolean {
  const type = headers['content-type'];
  return typeof type === 'string' && /^application\/(?:[\w.+-]+\+)?json\b/i.test(type);
}

/** What a reply is read as. Only of sound, films and text that was asked for does it matter what it is called. */
export type ResponseFormat = 'json' | 'text' | 'media';

export function formatOf({ route, headers, isTextAsked }: ResponseKind): ResponseFormat {
  if (!isTextAsked && !isMedia(route)) return 'json';
  if (saysJson(headers)) return 'json';
  return isTextAsked ? 'text' : 'media';
}

const isMedia = ({ wire }: Route) => wire.whole.kind === 'media';

/**
 * A page of a portal or proxy, which no route answers with, or text in place of sound. Where text is asked for its
 * beginning tells, for whisper.cpp calls all text HTML.
 */
export function isProse({ route, headers, isTextAsked }: ResponseKind): boolean {
  const type = headers['content-type'];
  return (
    !isTextAsked &&
    typeof type === 'string' &&
    (isMedia(route) ? /^text\/(?!event-stream\b)/i : /^text\/html\b/i).test(type)
  );
}

/** `body` decoded of any compression. */
export function judgeWhole(body: Buffer, route: Route, format: ResponseFormat): Verdict {
  // A transcript of silence may well be empty.
  if (format === 'text') return pageBeginning.test(body.toString('latin1', 0, 64)) ? page : good;
  if (format === 'media') return body.length === 0 ? empty : good;
  if (body.length > glancedFrom && isListOfNumbers(body, route, 'closed') && !body.includes('"error"')) return good;
  try {
    const value = body.length > parsedBytes ? sketch(body) : parse(body);
    if (value === undefined) return empty;
    const isBare = body.length <= parsedBytes && route.model !== 'none' && saysNothing(value);
    return isBare ? meaningless : judgeValue(value, route);
  } catch {
    return damaged;
  }
}

/** Whether the beginning of a long reply in JSON is that of an answer: sound so far, not over yet, and with what such an answer is for. */
export function mayGoOn(beginning: Buffer, route: Route): boolean {
  if (!route.wire.whole.marks.some((mark) => beginning.includes(mark))) return false;
  return isListOfNumbers(beginning, route, 'open') || isSoundSoFar(beginning);
}

/** False where a closer look has to tell. */
function isListOfNumbers(body: Buffer, { wire }: Route, wanted: Skeleton): boolean {
  if (!wire.whole.isNumbers) return false;
  const beginning = body.subarray(0, glancedBytes);
  return beginning.includes('"embedding"') && isSoundSoFar(beginning) && skeletonOf(body) === wanted;
}

function isSoundSoFar(beginning: Buffer): boolean {
  const peek = peekJson(beginning, []);
  if (peek.ok || beginning[peek.offset] === quote) return true;
  return peek.offset > beginning.length - longestToken;
}

const quote = 0x22;
/** What may be cut at the end: a word or a number. Of a string that is, the offset is its beginning. */
const longestToken = 64;

const pageBeginning = /^(?:\xef\xbb\xbf)?\s*<(?:!doctype|html)\b/i;
const page: Verdict = { kind: 'damaged', what: 'answered with a page of text' };
const byteOrderMark = '\uFEFF';
const empty: Verdict = { kind: 'damaged', what: 'sent an empty answer' };
const meaningless: Verdict = { kind: 'damaged', what: 'sent an answer that says nothing' };
const damaged: Verdict = { kind: 'damaged', what: 'sent an answer that is no valid JSON' };

/** Undefined for nothing but blanks. Throws where it is no JSON. */
function parse(body: Buffer): unknown {
  const text = body.toString('utf8').trim();
  return text === '' ? undefined : JSON.parse(text.startsWith(byteOrderMark) ? text.slice(1) : text);
}

/** The same, but of the long members only the beginning. A list is none but Google's, of errors. */
function sketch(body: Buffer): unknown {
  const peek = peekJson(body, judgedMembers);
  if (!peek.ok) return body.length <= maxListBytes ? parse(body) : invalid();
  return Object.fromEntries([...peek.fields].map(([name, field]) => [name, beginningOf(body, name, field)]));
}

const judgedMembers = ['error', 'object', 'id', 'choices'];
const maxListBytes = 1024 * 1024;
const failedChoice = /^\[\s*\{\s*(?:"(?:index|finish_reason)"\s*:\s*[\w"]+\s*,\s*)*"error"\s*:\s*[{"]/;

function beginningOf(body: Buffer, name: string, field: JsonField): unknown {
  if (name === 'error' || field.end - field.start <= parsedBytes) return fieldValue(body, field);
  const beginning = body.toString('latin1', field.start, field.start + 300);
  return beginning.startsWith('[') ? [{ error: failedChoice.test(beginning) }] : beginning;
}

function invalid(): never {
  throw new SyntaxError('no JSON');
}

function judgeValue(value: unknown, route: Route): Verdict {
  const top = Array.isArray(value) ? value[0] : value;
  if (typeof top !== 'object' || top === null) return meaningless;
  // A job that is looked at may have failed, and that is a good answer.
  const isAboutJob = route.model === 'none' && ('id' in top || 'object' in top);
  if (isError(top) && !isAboutJob) return errorVerdict(top);
  const choice = 'choices' in top && Array.isArray(top.choices) ? top.choices[0] : null;
  return choice?.error ? errorVerdict(choice) : good;
}

/** Of the shapes without an `error` only those that can be nothing else. */
function isError(top: object): boolean {
  if ('error' in top) return Boolean(top.error);
  if (('object' in top && top.object === 'error') || ('detail' in top && Object.keys(top).length === 1)) return true;
  const soundsSo =
    ('status' in top && top.status === 'error') ||
    ('success' in top && top.success === false) ||
    ('message' in top && 'code' in top);
  return soundsSo && !answers.some((name) => name in top);
}

/** Of these an answer has at least one, whatever its route. */
const answers = ['choices', 'data', 'output', 'results', 'text', 'segments', 'id', 'object'];

/** No member at all, or but one list with nothing in it. */
function saysNothing(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  const [only, ...more] = Object.values(value);
  return more.length === 0 && (only === undefined || (Array.isArray(only) && only.length === 0));
}

/** A response that failed is an object of its own, and told as it is where nobody does better. */
function errorVerdict(holder: object): Verdict {
  const error = errorIn(holder);
  const isResponse = 'object' in holder && holder.object === 'response';
  if (isResponse) return { kind: 'error', status: 200 };
  return { kind: 'error', status: error ? statusOfError(error) : 502 };
}
