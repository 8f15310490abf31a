import { Registry, servedApis } from '../apis/registry.ts';
import { isObject } from '../contract/is-object.ts';
import type { RecordedRequest } from './format.ts';

/** The client's APIs. Cassettes are loaded only when they are used. */
const registry = new Registry(servedApis);

/** The model that a recorded request names: in its path, if its API has it there, or in its body; null if it names none. */
export function modelOf({ path, body }: RecordedRequest): string | null {
  const { model } = registry.locate(path);
  if (model !== null) return model;
  const name = body !== null && 'json' in body && isObject(body.json) ? body.json.model : inForm(body);
  return typeof name === 'string' ? name : null;
}

function inForm(body: RecordedRequest['body']): string | undefined {
  if (body === null || !('form' in body)) return undefined;
  const part = body.form.find(({ name }) => name === 'model');
  return part && 'value' in part ? part.value : undefined;
}
