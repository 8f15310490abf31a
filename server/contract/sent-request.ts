/**
 * An earlier request as its client sent it, for sending it again or continuing it in the playground. Missing parts are
 * never made up; the reason why they are missing is returned instead.
 */
import type { CaptureAbsence, CaptureGap } from './capture.ts';
import { isObject } from './is-object.ts';
import type { RequestInFull, RequestView } from './request-views.ts';

export type SentRequest = KeptRequest | MissingRequest;

export interface KeptRequest {
  kind: 'kept';
  request: RequestView;
  method: string;
  /** Includes the query: `/v1/chat/completions`. */
  path: string;
  /** Only headers that affect the answer, such as `anthropic-version`; no credentials. */
  headers: Readonly<Record<string, string>>;
  /** Exactly the bytes that were sent; empty for a request without a body. */
  body: string;
}

export interface MissingRequest {
  kind: 'missing';
  request: RequestView;
  why: CaptureAbsence | CaptureGap | 'not-text';
}

/** `RequestInFull` is the engine's result of the query for one request. */
export function sentRequestOf({ request, capture, captureAbsence }: RequestInFull): SentRequest {
  const missing = (why: MissingRequest['why']): MissingRequest => ({ kind: 'missing', request, why });
  if (!capture) return missing(captureAbsence ?? 'unknown');
  const { gap, body, headers, url, method } = capture.request;
  if (gap !== null) return missing(gap);
  if (body?.encoding === 'base64') return missing('not-text');
  const path = url ?? pathOf(request);
  if (path === null) return missing('older-version');
  return { kind: 'kept', request, method, path, headers: keptHeaders(headers ?? []), body: body?.data ?? '' };
}

const headerNames = ['content-type', 'anthropic-version', 'anthropic-beta', 'openai-beta'];

function keptHeaders(headers: readonly (readonly [name: string, value: string])[]): Record<string, string> {
  return Object.fromEntries(
    headers.map(([name, value]) => [name.toLowerCase(), value] as const).filter(([name]) => headerNames.includes(name)),
  );
}

/** Null if the path has parameters other than the model. */
function pathOf({ route, modelAsked }: RequestView): string | null {
  const path = modelAsked === null ? route : route.replace('{model}', () => encodeURIComponent(modelAsked));
  return path.includes('{') ? null : path;
}

type Call = Pick<KeptRequest, 'path' | 'body'>;

interface ModelInPath {
  isTuned: boolean;
  name: string;
  /** From the colon on. */
  verb: string;
  before: string;
}

const verbPattern = /^(?::|%3[aA])\w{1,40}(?:\?|$)/;

/** Gemini's. A name may contain slashes and colons; the verb begins after the last colon. */
function modelIn(path: string): ModelInPath | null {
  const found = ['/models/', '/tunedModels/'].map((part) => ({ part, at: path.indexOf(part) }));
  const first = found.find(({ at }) => at !== -1);
  const query = path.indexOf('?');
  const end = query === -1 ? path.length : query;
  const colon = Math.max(
    path.lastIndexOf(':', end - 1),
    path.lastIndexOf('%3a', end - 1),
    path.lastIndexOf('%3A', end - 1),
  );
  if (!first || colon <= first.at + first.part.length || !verbPattern.test(path.slice(colon, colon + 50))) return null;
  const name = path.slice(first.at + first.part.length, colon);
  return { isTuned: first.part !== '/models/', name, verb: path.slice(colon), before: path.slice(0, first.at) };
}

/**
 * The same call for another model, which is in the path (Gemini) or in the body. Null if it is in neither. A body whose
 * model stays the same is not modified.
 */
export function withModel({ path, body }: Call, model: string): Call | null {
  const inPath = modelIn(path);
  if (inPath) return { body, path: `${inPath.before}/models/${encodeURIComponent(model)}${inPath.verb}` };
  const value = parsed(body);
  if (!isObject(value)) return null;
  return value.model === model ? { path, body } : { path, body: JSON.stringify({ ...value, model }, null, 2) };
}

/** The model that a call names; null if it names none. */
export function modelOf({ path, body }: Call): string | null {
  const inPath = modelIn(path);
  if (inPath) return `${inPath.isTuned ? 'tunedModels/' : ''}${decoded(inPath.name)}`;
  const value = parsed(body);
  return isObject(value) && typeof value.model === 'string' ? value.model : null;
}

/** A client may have sent a path with invalid percent-encoding. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return null;
  }
}

/** Median and range of several measurements of the same quantity. */
interface Spread {
  median: number;
  least: number;
  most: number;
}

/** Over the known values; null if there are none. */
export function spreadOf(values: readonly (number | null | undefined)[]): Spread | null {
  const numbers = values.filter((value) => value != null).sort((one, other) => one - other);
  const [least, most] = [numbers[0], numbers.at(-1)];
  if (least === undefined || most === undefined) return null;
  const middle = (numbers.length - 1) / 2;
  const median = ((numbers[Math.floor(middle)] ?? 0) + (numbers[Math.ceil(middle)] ?? 0)) / 2;
  return { median, least, most };
}
