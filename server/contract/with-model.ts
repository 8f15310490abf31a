import { isObject } from './is-object.ts';
import type { KeptRequest } from './sent-request.ts';

type Call = Pick<KeptRequest, 'path' | 'body'>;

/** A name may contain slashes and colons; the verb begins after the last colon. */
const modelInPath = /\/(models|tunedModels)\/([^?]+)((?::|%3[aA])\w{1,40}(?:\?|$))/;

/**
 * The same call for another model, which is in the path (Gemini) or in the body. Null if it is in neither. A body whose
 * model stays the same is not modified.
 */
export function withModel({ path, body }: Call, model: string): Call | null {
  if (modelInPath.test(path)) {
    return {
      body,
      path: path.replace(modelInPath, (_whole, _kind, _model, verb) => `/models/${encodeURIComponent(model)}${verb}`),
    };
  }
  const value = parsed(body);
  if (!isObject(value)) return null;
  return value.model === model ? { path, body } : { path, body: JSON.stringify({ ...value, model }, null, 2) };
}

/** The model that a call names; null if it names none. */
export function modelOf({ path, body }: Call): string | null {
  const [, kind, inPath] = modelInPath.exec(path) ?? [];
  if (inPath !== undefined) return kind === 'models' ? decoded(inPath) : `${kind}/${decoded(inPath)}`;
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
