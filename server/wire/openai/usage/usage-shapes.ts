/**
 * Maps the `usage` objects of upstreams to Sluice's own, and normalises differences in counting (Anthropic excludes
 * cached tokens from the input). Values that are not numbers are dropped; `plausible-usage.ts` checks whether the numbers
 * can be true.
 */
import { isObject } from '../../../contract/is-object.ts';
import type { Usage } from '../../../contract/ledger.ts';

type Fields = Record<string, unknown>;

/** Null if the object has an unknown shape or no usable number. */
export function toUsage(value: unknown): Usage | null {
  if (!isObject(value)) return null;
  const usage = dropUnknown(ofShape(value));
  return Object.keys(usage).length === 0 ? null : usage;
}

function ofShape(fields: Fields): Counts {
  if ('prompt_tokens' in fields || 'completion_tokens' in fields) return ofChat(fields);
  if ('cache_read_input_tokens' in fields || 'cache_creation_input_tokens' in fields) return ofAnthropic(fields);
  if ('input_tokens' in fields || 'output_tokens' in fields) return ofResponses(fields);
  if (fields.type === 'duration') return { seconds: duration(fields.seconds) };
  return {};
}

type Counts = { [Name in keyof Usage]: number | undefined };

/** Chat, completions, embeddings: `prompt_tokens`, `completion_tokens` and their details. */
function ofChat(fields: Fields): Counts {
  const input = details(fields, 'prompt_tokens_details');
  const output = details(fields, 'completion_tokens_details');
  const totals = { inputTokens: count(fields.prompt_tokens), outputTokens: count(fields.completion_tokens) };
  return { ...totals, ...partsOf(input, output) };
}

/** Responses, images, transcriptions and speech events; transcriptions use the singular `input_token_details`. */
function ofResponses(fields: Fields): Counts {
  const input = details(fields, 'input_tokens_details', 'input_token_details');
  const output = details(fields, 'output_tokens_details', 'output_token_details');
  const totals = { inputTokens: count(fields.input_tokens), outputTokens: count(fields.output_tokens) };
  return { ...totals, ...partsOf(input, output) };
}

/** Details that both shapes report under the same names. */
function partsOf(input: Fields, output: Fields): Counts {
  return {
    cachedInputTokens: count(input.cached_tokens),
    cacheWriteTokens: count(input.cache_write_tokens),
    reasoningTokens: count(output.reasoning_tokens),
    audioInputTokens: count(input.audio_tokens),
    audioOutputTokens: count(output.audio_tokens),
    imageInputTokens: count(input.image_tokens),
    imageOutputTokens: count(output.image_tokens),
  };
}

/** Anthropic reports cache reads and writes separately from `input_tokens`. */
function ofAnthropic(fields: Fields): Counts {
  const fresh = count(fields.input_tokens);
  const cacheRead = count(fields.cache_read_input_tokens);
  const cacheWritten = count(fields.cache_creation_input_tokens);
  return {
    inputTokens: fresh === undefined ? undefined : fresh + (cacheRead ?? 0) + (cacheWritten ?? 0),
    outputTokens: count(fields.output_tokens),
    cachedInputTokens: cacheRead,
    cacheWriteTokens: cacheWritten,
    reasoningTokens: count(details(fields, 'output_tokens_details').thinking_tokens),
  };
}

function details(fields: Fields, ...names: string[]): Fields {
  for (const name of names) {
    const value = fields[name];
    if (isObject(value)) return value;
  }
  return {};
}

const count = (value: unknown) => (typeof value === 'number' ? value : undefined);

/** Seconds, possibly fractional: a number, or a string as in videos and older transcriptions. */
export function duration(value: unknown): number | undefined {
  const seconds = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof seconds === 'number' && !Number.isNaN(seconds) ? seconds : undefined;
}

/** A loop rather than `Object.entries`: this runs for every request. */
function dropUnknown(counts: Counts): Usage {
  const usage: Usage = {};
  for (const name of reportedQuantities) {
    const value = counts[name];
    if (value !== undefined) usage[name] = value;
  }
  return usage;
}

/** Everything that responses report; characters and images are counted from the request. */
const reportedQuantities = [
  'inputTokens',
  'outputTokens',
  'cachedInputTokens',
  'cacheWriteTokens',
  'reasoningTokens',
  'audioInputTokens',
  'audioOutputTokens',
  'imageInputTokens',
  'imageOutputTokens',
  'seconds',
] as const satisfies readonly (keyof Usage)[];
