import { JsonNames } from '../../apis/json/json-names.ts';
import { fieldValue, peekJson } from '../../apis/json/json-peek.ts';
import { isObject } from '../../contract/is-object.ts';

/**
 * Top-level fields in which OpenAI's API refers to existing objects: https://platform.openai.com/docs/api-reference.
 */
const names = new JsonNames([
  'file_id',
  'file_ids',
  'input_file_id',
  'training_file',
  'validation_file',
  'assistant_id',
  'vector_store_ids',
  'eval_id',
  'video',
]);
/** Each is looked up. */
const maxIds = 32;

/** The ids in these fields of a request's JSON; empty if it is not a JSON object. */
export function referencedIds(json: Buffer): readonly string[] {
  const peek = peekJson(json, names);
  if (!peek.ok) return [];
  const values = [...peek.fields.values()].flatMap((field) => readField(json, field));
  // A video is named by an object.
  const ids = values.map((value) => (isObject(value) ? value.id : value));
  return ids.filter((id) => typeof id === 'string').slice(0, maxIds);
}

function readField(json: Buffer, field: { start: number; end: number }): unknown {
  try {
    return fieldValue(json, field);
  } catch {
    return [];
  }
}
