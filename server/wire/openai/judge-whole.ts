/** Whether a whole reply is what its status says. Pure. */
import { pattern } from '../../bounded-pattern.ts';
import type { Capability } from '../../contract/capability.ts';
import { JsonNames } from '../../http/json/json-names.ts';
import { readTold } from '../../http/reply/error-body.ts';
import { statusOfError } from '../../routing/classify-failure.ts';
import { errorIn, type UpstreamError } from '../../routing/upstream-error.ts';
import type { ResponseHeaders } from '../../transport/transport.ts';
import { fieldValue, type JsonField, type JsonPeek, peekJson, peekLongJson } from '../json/json-peek.ts';
import { type Skeleton, skeletonOf } from '../json/json-skeleton.ts';
import type { InferenceRoute } from '../routes.ts';

export type Verdict =
  /** `values`: how many it holds in JSON, where that was counted; else it is short. */
  | { kind: 'good'; values: number }
  /** `what` follows "Provider … ". */
  | { kind: 'damaged'; what: string }
  | ErrorVerdict;

/** An error in spite of its status. */
export interface ErrorVerdict {
  kind: 'error';
  /** The one that it should have had. */
  status: number;
  error: UpstreamError | null;
}

const good: Verdict = { kind: 'good', values: 0 };

/** Up to this a reply is parsed; a longer one is gone through, which makes no strings and takes less time. */
const parsedBytes = 16 * 1024;
/** Numbers take long to be gone through: of more embeddings than this only the beginning is, and the brackets of the rest. */
const glancedFrom = 256 * 1024;
const glancedBytes = 64 * 1024;
/** Of one that goes on so much is gone through. */
const soundBytes = 256 * 1024;

/** What a reply is to be, by what was asked for, and what it says it is. */
export interface ReplyKind {
  route: InferenceRoute;
  headers: ResponseHeaders;
  /** A transcript was asked for as text or subtitles. */
  isTextAsked: boolean;
}

export function saysJson(headers: ResponseHeaders): boolean {
  const type = headers['content-type'];
  return typeof type === 'string' && jsonType.test(type);
}

/** What a reply is read as. Only of sound, films and text that was asked for does it matter what it is called. */
export type ReplyFormat = 'json' | 'text' | 'media';

export function formatOf({ route, headers, isTextAsked }: ReplyKind): ReplyFormat {
  if (!isTextAsked && !isMedia(route)) return 'json';
  if (saysJson(headers)) return 'json';
  return isTextAsked ? 'text' : 'media';
}

const isMedia = ({ capability, content }: InferenceRoute) => content === true || capability === 'speech';

/**
 * A page of a portal or proxy, which no route answers with, or text in place of sound. Where text is asked for its
 * beginning tells, for whisper.cpp calls all text HTML.
 */
export function isProse({ route, headers, isTextAsked }: ReplyKind): boolean {
  const type = headers['content-type'];
  return !isTextAsked && typeof type === 'string' && (isMedia(route) ? textType : pageType).test(type);
}

/** `body` decoded of any compression. A long one is gone through in slices, between which others have their turn. */
export async function judgeLong(body: Buffer, route: InferenceRoute, format: ReplyFormat): Promise<Verdict> {
  if (format !== 'json' || isGlanced(body, route)) return judgeWhole(body, route, format);
  return judgeSketch(body, await peekLongJson(body, judgedNames), route);
}

/** The same at once. */
export function judgeWhole(body: Buffer, route: InferenceRoute, format: ReplyFormat): Verdict {
  // A transcript of silence may well be empty.
  if (format === 'text') return pageBeginning.test(body.toString('latin1', 0, 64)) ? page : good;
  if (format === 'media') return body.length === 0 ? empty : good;
  if (isGlanced(body, route)) return good;
  return body.length > parsedBytes ? judgeSketch(body, peekJson(body, judgedNames), route) : judgeShort(body, route);
}

function isGlanced(body: Buffer, route: InferenceRoute): boolean {
  return body.length > glancedFrom && isListOfNumbers(body, route, 'closed') && !body.includes('"error"');
}

function judgeShort(body: Buffer, route: InferenceRoute): Verdict {
  try {
    const value = parse(body);
    if (value === undefined) return empty;
    return route.model !== 'none' && saysNothing(value) ? meaningless : judgeValue(value, route);
  } catch {
    return damaged;
  }
}

/** Whether the beginning of a long reply in JSON is that of an answer: sound so far, not over yet, and with what such an answer is for. */
export function mayGoOn(beginning: Buffer, route: InferenceRoute): boolean {
  if (!marks[route.capability].some((mark) => beginning.includes(mark))) return false;
  return isListOfNumbers(beginning, route, 'open') || isSoundSoFar(beginning.subarray(0, soundBytes));
}

/** False where a closer look has to tell. */
function isListOfNumbers(body: Buffer, { capability }: InferenceRoute, wanted: Skeleton): boolean {
  if (capability !== 'embeddings') return false;
  const beginning = body.subarray(0, glancedBytes);
  return beginning.includes('"embedding"') && isSoundSoFar(beginning) && skeletonOf(body) === wanted;
}

function isSoundSoFar(beginning: Buffer): boolean {
  const peek = peekJson(beginning, noNames);
  if (peek.ok || beginning[peek.offset] === quote) return true;
  return peek.offset > beginning.length - longestToken;
}

/** Members that stand in the first megabyte, whatever their order. */
const marks: Record<Capability, readonly string[]> = {
  chat: ['"choices"'],
  completions: ['"choices"'],
  // The instructions that a response repeats may be long.
  responses: ['"response"', '"output"', '"data"'],
  embeddings: ['"embedding"'],
  moderations: ['"results"'],
  images: ['"b64_json"', '"url"'],
  transcription: ['"text"'],
  translation: ['"text"'],
  speech: ['"'],
  videos: ['"id"'],
};
const quote = 0x22;
/** What may be cut at the end: a word or a number. Of a string that is, the offset is its beginning. */
const longestToken = 64;

const jsonType = pattern(/^application\/(?:[\w.+-]+\+)?json\b/i);
const textType = pattern(/^text\/(?!event-stream\b)/i);
const pageType = pattern(/^text\/html\b/i);
const pageBeginning = pattern(/^(?:\xef\xbb\xbf)?\s*<(?:!doctype|html)\b/i);
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

/** By what few members say, and of the long ones by their beginning. A list is none but Google's, of errors. */
function judgeSketch(body: Buffer, peek: JsonPeek, route: InferenceRoute): Verdict {
  if (!peek.ok) return body.length <= maxListBytes ? judgeShort(body, route) : damaged;
  const members = [...peek.fields].map(([name, field]) => [name, beginningOf(body, name, field)]);
  const verdict = judgeValue(Object.fromEntries(members), route);
  return verdict.kind === 'good' ? { ...verdict, values: peek.values } : verdict;
}

const noNames = new JsonNames([]);
const judgedNames = new JsonNames(['error', 'object', 'id', 'choices']);
const maxListBytes = 64 * 1024;
const failedChoice = pattern(/^\[\s*\{\s*(?:"(?:index|finish_reason)"\s*:\s*[\w"]+\s*,\s*)*"error"\s*:\s*[{"]/);

function beginningOf(body: Buffer, name: string, field: JsonField): unknown {
  if (name !== 'choices') return readTold(body, name, field);
  if (field.end - field.start <= parsedBytes) return fieldValue(body, field);
  const beginning = body.toString('latin1', field.start, field.start + 300);
  return beginning.startsWith('[') ? [{ error: failedChoice.test(beginning) }] : beginning;
}

function judgeValue(value: unknown, route: InferenceRoute): Verdict {
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
  if (isResponse) return { kind: 'error', status: 200, error };
  return { kind: 'error', status: error ? statusOfError(error) : 502, error };
}
