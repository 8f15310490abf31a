/** Stop reasons and usage of responses, in both directions. */
import { isObject } from '../../../contract/is-object.ts';
import { promptTokens, type Stop, type StopReason, type TokenUsage } from '../../neutral/neutral-answer.ts';

type Json = Record<string, unknown>;

export function parseResponseStop({ status, incomplete_details: details }: Json): Stop {
  if (status !== 'incomplete') return { reason: 'end' };
  const reason = isObject(details) ? details.reason : undefined;
  return { reason: reason === 'content_filter' ? 'filter' : 'length' };
}

const incompleteReasons: Partial<Record<StopReason, string>> = {
  length: 'max_output_tokens',
  window: 'max_output_tokens',
  filter: 'content_filter',
};

export function renderStatus({ reason }: Stop): { status: string; incomplete_details: Json | null } {
  const incomplete = incompleteReasons[reason];
  return incomplete === undefined
    ? { status: 'completed', incomplete_details: null }
    : { status: 'incomplete', incomplete_details: { reason: incomplete } };
}

export function renderResponseUsage(usage: TokenUsage): Json {
  const { cacheRead, cacheWrite, output, reasoning } = usage;
  const input = promptTokens(usage);
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cacheRead, ...(cacheWrite > 0 ? { cache_write_tokens: cacheWrite } : {}) },
    output_tokens: output + reasoning,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output + reasoning,
  };
}
