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
  const usage = ofShape(value);
  return Object.keys(usage).length === 0 ? null : usage;
}

function ofShape(fields: Fields): Usage {
  if ('prompt_tokens' in fields || 'completion_tokens' in fields) return ofChat(fields);
  if ('cache_read_input_tokens' in fields || 'cache_creation_input_tokens' in fields) return ofAnthropic(fields);
  if ('input_tokens' in fields || 'output_tokens' in fields) return ofResponses(fields);
  const seconds = fields.type === 'duration' ? duration(fields.seconds) : undefined;
  return seconds === undefined ? {} : { seconds };
}

/** Chat, completions, embeddings: `prompt_tokens`, `completion_tokens` and their details. */
function ofChat(fields: Fields): Usage {
  const usage = totals(fields.prompt_tokens, fields.completion_tokens);
  addInputParts(usage, fields.prompt_tokens_details);
  addOutputParts(usage, fields.completion_tokens_details);
  return usage;
}

/** Responses, images, transcriptions and speech events; transcriptions use the singular `input_token_details`. */
function ofResponses(fields: Fields): Usage {
  const usage = totals(fields.input_tokens, fields.output_tokens);
  const { input_tokens_details: input, output_tokens_details: output } = fields;
  addInputParts(usage, isObject(input) ? input : fields.input_token_details);
  addOutputParts(usage, isObject(output) ? output : fields.output_token_details);
  return usage;
}

function totals(input: unknown, output: unknown): Usage {
  const usage: Usage = {};
  if (typeof input === 'number') usage.inputTokens = input;
  if (typeof output === 'number') usage.outputTokens = output;
  return usage;
}

function addInputParts(usage: Usage, details: unknown): void {
  if (!isObject(details)) return;
  const { cached_tokens: cached, cache_write_tokens: cacheWrite, audio_tokens: audio, image_tokens: image } = details;
  if (typeof cached === 'number') usage.cachedInputTokens = cached;
  if (typeof cacheWrite === 'number') usage.cacheWriteTokens = cacheWrite;
  if (typeof audio === 'number') usage.audioInputTokens = audio;
  if (typeof image === 'number') usage.imageInputTokens = image;
}

function addOutputParts(usage: Usage, details: unknown): void {
  if (!isObject(details)) return;
  const { reasoning_tokens: reasoning, audio_tokens: audio, image_tokens: image } = details;
  if (typeof reasoning === 'number') usage.reasoningTokens = reasoning;
  if (typeof audio === 'number') usage.audioOutputTokens = audio;
  if (typeof image === 'number') usage.imageOutputTokens = image;
}

/** Anthropic reports cache reads and writes separately from `input_tokens`. */
function ofAnthropic(fields: Fields): Usage {
  const usage = totals(fields.input_tokens, fields.output_tokens);
  const {
    cache_read_input_tokens: read,
    cache_creation_input_tokens: written,
    output_tokens_details: details,
  } = fields;
  if (typeof read === 'number') usage.cachedInputTokens = read;
  if (typeof written === 'number') usage.cacheWriteTokens = written;
  const { inputTokens, cachedInputTokens = 0, cacheWriteTokens = 0 } = usage;
  if (inputTokens !== undefined) usage.inputTokens = inputTokens + cachedInputTokens + cacheWriteTokens;
  if (isObject(details) && typeof details.thinking_tokens === 'number') usage.reasoningTokens = details.thinking_tokens;
  return usage;
}

/** Seconds, possibly fractional: a number, or a string as in videos and older transcriptions. */
export function duration(value: unknown): number | undefined {
  const seconds = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof seconds === 'number' && !Number.isNaN(seconds) ? seconds : undefined;
}
