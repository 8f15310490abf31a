import { JsonNames } from '../../apis/json/json-names.ts';
import { fieldValue, peekJson } from '../../apis/json/json-peek.ts';
import { isObject } from '../../contract/is-object.ts';

/**
 * Top-level fields in which OpenAI's, Anthropic's and Google's APIs refer to existing objects. Source: their API references.
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
  // Anthropic
  'agent',
  'agent_id',
  'environment_id',
  'vault_ids',
  'memory_store_id',
  'session_id',
  'deployment_id',
  'user_profile_id',
  // Google, by its resource names
  'fileName',
  'file_name',
  'cachedContent',
  'cached_content',
  'previousInteractionId',
  'previous_interaction_id',
]);
/** Each is looked up. */
const maxIds = 32;

/** The ids in these fields of a request's JSON; empty if it is not a JSON object. */
export function referencedIds(json: Buffer): readonly string[] {
  const peek = peekJson(json, names);
  if (!peek.ok) return [];
  const values = [...peek.fields.values()].flatMap((field) => readField(json, field));
  // A video or an agent may be named by an object.
  const ids = values.map((value) => (isObject(value) ? value.id : value));
  return ids.flatMap((id) => (typeof id === 'string' ? id.slice(id.lastIndexOf('/') + 1) : [])).slice(0, maxIds);
}

function readField(json: Buffer, field: { start: number; end: number }): unknown {
  try {
    return fieldValue(json, field);
  } catch {
    return [];
  }
}
