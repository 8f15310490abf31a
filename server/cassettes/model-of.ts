import { isObject } from '../contract/is-object.ts';
import type { RecordedRequest } from './format.ts';

/** The model that a recorded request names, in its body or, as in Gemini's API, in its path; null if it names none. */
export function modelOf({ path, body }: RecordedRequest): string | null {
  const name = body !== null && 'json' in body && isObject(body.json) ? body.json.model : inForm(body);
  if (typeof name === 'string') return name;
  const inPath = /\/models\/([^/:?]+):/.exec(path)?.[1];
  return inPath === undefined ? null : inPath;
}

function inForm(body: RecordedRequest['body']): string | undefined {
  if (body === null || !('form' in body)) return undefined;
  const part = body.form.find(({ name }) => name === 'model');
  return part && 'value' in part ? part.value : undefined;
}
