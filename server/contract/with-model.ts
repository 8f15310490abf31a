import { isObject } from './is-object.ts';
import type { KeptRequest } from './sent-request.ts';

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
