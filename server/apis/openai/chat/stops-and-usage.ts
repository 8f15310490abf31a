/** Finish reasons and usage of chat completions, in both directions. */
import { entryOf } from '../../core/table-entry.ts';
import { promptTokens } from '../../neutral/answers/token-usage.ts';
import type { StopReason, TokenUsage } from '../../neutral/neutral-answer.ts';

type Json = Record<string, unknown>;

/**
 * OpenAI's, and words of services for the same: `model_length` of Mistral; `sensitive` and `model_context_window_exceeded` of
 * Zhipu; those of Anthropic and Google from gateways that pass them on.
 */
const reasons: Record<string, StopReason> = {
  stop: 'end',
  length: 'length',
  tool_calls: 'tool',
  function_call: 'tool',
  content_filter: 'filter',
  model_length: 'window',
  model_context_window_exceeded: 'window',
  max_tokens: 'length',
  MAX_TOKENS: 'length',
  sensitive: 'filter',
  refusal: 'filter',
  SAFETY: 'filter',
};

/** Mistral and OpenRouter; Zhipu; DeepSeek. What came so far is no whole answer. */
const failures = new Set<unknown>(['error', 'network_error', 'insufficient_system_resource']);

export function isFailure(reason: unknown): boolean {
  return failures.has(reason);
}

/** An unknown reason counts as a normal end. */
export function parseFinishReason(reason: unknown): StopReason {
  return entryOf(reasons, reason) ?? 'end';
}

const names: Record<StopReason, string> = {
  end: 'stop',
  sequence: 'stop',
  tool: 'tool_calls',
  length: 'length',
  window: 'length',
  pause: 'stop',
  filter: 'content_filter',
  malformed: 'stop',
};

export function renderFinishReason(reason: StopReason): string {
  return names[reason];
}

export function renderChatUsage(usage: TokenUsage): Json {
  const { cacheRead, cacheWrite, output, reasoning } = usage;
  const prompt = promptTokens(usage);
  return {
    prompt_tokens: prompt,
    completion_tokens: output + reasoning,
    total_tokens: prompt + output + reasoning,
    prompt_tokens_details: { cached_tokens: cacheRead, ...(cacheWrite > 0 ? { cache_write_tokens: cacheWrite } : {}) },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
}
