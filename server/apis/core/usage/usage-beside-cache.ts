/** Usage of APIs whose input excludes what was read from a cache or written to one: Anthropic's and Bedrock's. Pure. */
import { isObject } from '../../../contract/is-object.ts';
import type { Usage } from '../../../contract/ledger.ts';
import { countOf } from './token-counts.ts';

type Fields = Record<string, unknown>;

interface CountsBesideCache {
  input: number | undefined;
  cacheRead: number;
  cacheWritten: number;
  /** The part of `cacheWritten` that is cached for an hour. */
  writtenForAnHour: number;
  output: number | undefined;
}

/** Null if nothing is counted. */
export function usageBesideCache(counts: CountsBesideCache): Usage | null {
  const { input, cacheRead, cacheWritten, writtenForAnHour, output } = counts;
  const isCounted = input !== undefined || output !== undefined || cacheRead !== 0 || cacheWritten !== 0;
  if (!isCounted) return null;
  return {
    ...(input !== undefined && { inputTokens: input + cacheRead + cacheWritten }),
    ...(output !== undefined && { outputTokens: output }),
    ...(cacheRead !== 0 && { cachedInputTokens: cacheRead }),
    ...(cacheWritten !== 0 && { cacheWriteTokens: cacheWritten }),
    ...(writtenForAnHour !== 0 && { cacheWriteOneHourTokens: writtenForAnHour }),
  };
}

/** Anthropic's object, which other services write as well. `output_tokens` include thinking. */
export function anthropicUsage(fields: Fields): Usage | null {
  const { cache_creation: creation, output_tokens_details: details } = fields;
  const forAnHour = isObject(creation) ? (countOf(creation.ephemeral_1h_input_tokens) ?? 0) : 0;
  const forMinutes = isObject(creation) ? (countOf(creation.ephemeral_5m_input_tokens) ?? 0) : 0;
  const thinking = isObject(details) ? (countOf(details.thinking_tokens) ?? 0) : 0;
  const usage = usageBesideCache({
    input: countOf(fields.input_tokens),
    cacheRead: countOf(fields.cache_read_input_tokens) ?? 0,
    cacheWritten: countOf(fields.cache_creation_input_tokens) ?? forMinutes + forAnHour,
    writtenForAnHour: forAnHour,
    output: countOf(fields.output_tokens),
  });
  return usage && { ...usage, ...(thinking !== 0 && { reasoningTokens: thinking }) };
}
