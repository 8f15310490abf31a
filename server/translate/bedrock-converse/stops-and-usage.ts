/** Stop reasons and usage of Bedrock's Converse API. */
import { isObject } from '../../contract/is-object.ts';
import { entryOf } from '../../wire/table-entry.ts';
import type { Stop, StopReason, TokenUsage } from '../neutral-answer.ts';
import { countOf } from '../token-usage.ts';

type Json = Record<string, unknown>;

/** Source: Amazon Bedrock API reference, "Converse", `stopReason`. */
const reasons: Record<string, StopReason> = {
  end_turn: 'end',
  tool_use: 'tool',
  max_tokens: 'length',
  stop_sequence: 'sequence',
  guardrail_intervened: 'filter',
  content_filtered: 'filter',
  malformed_model_output: 'malformed',
  malformed_tool_use: 'malformed',
  model_context_window_exceeded: 'window',
};

/** An unknown reason counts as a normal end. */
export function parseStop({ stopReason }: Json): Stop {
  return { reason: entryOf(reasons, stopReason) ?? 'end' };
}

/** `inputTokens` exclude cached tokens. `outputTokens` include thinking, which is not counted separately. */
export function parseUsage(usage: Json): TokenUsage {
  return {
    input: countOf(usage.inputTokens),
    cacheRead: countOf(usage.cacheReadInputTokens),
    cacheWrite: countOf(usage.cacheWriteInputTokens),
    cacheWriteOneHour: writtenForAnHour(usage.cacheDetails),
    output: countOf(usage.outputTokens),
    reasoning: 0,
  };
}

/** `cacheDetails`: `[{"inputTokens":100,"ttl":"1h"}]`. */
function writtenForAnHour(details: unknown): number {
  const written = Array.isArray(details) ? details.filter(isObject).filter(({ ttl }) => ttl === '1h') : [];
  return written.reduce((sum, { inputTokens }) => sum + countOf(inputTokens), 0);
}
