import { JsonNames } from '../../wire/json/json-names.ts';
import { fieldValue, peekJson } from '../../wire/json/json-peek.ts';

/** Top-level fields by which OpenAI's API refers to what was made before: https://platform.openai.com/docs/api-reference. */
const names = new JsonNames([
  'file_id',
  'file_ids',
  'input_file_id',
  'training_file',
  'validation_file',
  'assistant_id',
  'vector_store_ids',
  'eval_id',
]);
/** Each is looked up. */
const mostIds = 32;

/** The ids that a request's JSON names at its top level; none where it is not one JSON object. */
export function namedIds(json: Buffer): readonly string[] {
  const peek = peekJson(json, names);
  if (!peek.ok) return [];
  const values = [...peek.fields.values()].flatMap((field) => readField(json, field));
  return values.filter((value) => typeof value === 'string').slice(0, mostIds);
}

function readField(json: Buffer, field: { start: number; end: number }): unknown {
  try {
    return fieldValue(json, field);
  } catch {
    return [];
  }
}
