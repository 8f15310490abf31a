/** Parameters of a request as typed, and in the form of each API. Pure. */
import { at, parseJson } from '../calls/json-path.ts';

export interface SamplingDraft {
  temperature: number | string;
  topP: number | string;
  maxTokens: number | string;
  /** Empty for the model's default. */
  effort: string;
  /** A JSON Schema for the answer; empty for none. */
  schema: string;
}

export const noParameters: SamplingDraft = { temperature: '', topP: '', maxTokens: '', effort: '', schema: '' };

/** How many parameters, and texts beside them, are given. */
export function countSet(draft: SamplingDraft, ...texts: readonly string[]): number {
  return [...Object.values(draft), ...texts].filter((value) => String(value).trim() !== '').length;
}

export const efforts = ['minimal', 'low', 'medium', 'high'] as const;

/** The schema typed; undefined if none, null if it is not a JSON object. */
export function schemaOf({ schema }: SamplingDraft): object | undefined | null {
  if (schema.trim() === '') return undefined;
  const value = parseJson(schema);
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
}

/** Includes only the parameters given; the model chooses the others. */
export function chatParameters(draft: SamplingDraft): Record<string, unknown> {
  const schema = schemaOf(draft);
  return {
    ...numberField('temperature', draft.temperature),
    ...numberField('top_p', draft.topP),
    ...numberField('max_completion_tokens', draft.maxTokens),
    ...(draft.effort && { reasoning_effort: draft.effort }),
    ...(schema && { response_format: { type: 'json_schema', json_schema: { name: nameOf(schema), schema } } }),
  };
}

export function responsesParameters(draft: SamplingDraft): Record<string, unknown> {
  const schema = schemaOf(draft);
  return {
    ...numberField('temperature', draft.temperature),
    ...numberField('top_p', draft.topP),
    ...numberField('max_output_tokens', draft.maxTokens),
    ...(draft.effort && { reasoning: { effort: draft.effort } }),
    ...(schema && { text: { format: { type: 'json_schema', name: nameOf(schema), schema } } }),
  };
}

export function completionsParameters(draft: SamplingDraft): Record<string, unknown> {
  return {
    ...numberField('temperature', draft.temperature),
    ...numberField('top_p', draft.topP),
    ...numberField('max_tokens', draft.maxTokens),
  };
}

function numberField(name: string, value: number | string): Record<string, number> {
  return value === '' || !Number.isFinite(Number(value)) ? {} : { [name]: Number(value) };
}

/** OpenAI requires a name of letters, digits, `_` and `-`. */
function nameOf(schema: object): string {
  const title = at(schema, 'title');
  return (typeof title === 'string' && title.replace(/[^\w-]/g, '_').slice(0, 64)) || 'answer';
}
