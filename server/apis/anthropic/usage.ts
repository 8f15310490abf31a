/** Usage and stop reasons of Anthropic's API: what an answer tells, and what clients are told. */

import { isObject } from '../../contract/is-object.ts';
import type { PriceTerms } from '../../contract/ledger.ts';
import { entryOf } from '../core/table-entry.ts';
import { countOf } from '../core/token-counts.ts';
import { conversationUsage } from '../core/usage/conversation-usage.ts';
import { fieldsAt, tierNamed } from '../core/usage/price-terms.ts';
import { anthropicUsage, reportedUsage, type UsageReports } from '../core/usage/reported-usage.ts';
import type { RequestView } from '../core/wire.ts';
import type { AnswerContext } from '../neutral/answers/wire-translation.ts';
import { noUsage, promptTokens, type Stop, type StopReason, type TokenUsage } from '../neutral/neutral-answer.ts';

/** Streams report usage in `message_start` and, cumulatively, in `message_delta`, which may lack the input. */
export const messagesReports: UsageReports = {
  name: 'usage',
  places: [['usage'], ['message', 'usage']],
  isComplete: () => false,
  toUsage: anthropicUsage,
};

export const messagesUsage = conversationUsage({
  allowedTokens,
  answersPaid: () => 1,
  members: { prompts: ['system', 'messages'], schemas: ['tools', 'output_config'] },
  unknownOutputTokens: 128_000,
  reported: (answer) => reportedUsage(answer, messagesReports),
  asks: (body: RequestView<'max_tokens' | 'speed'>) => ({ tier: body.field('speed') === 'fast' ? 'fast' : null }),
  termsOf,
  facts: {
    temperature: [['temperature']],
    maxTokens: [['max_tokens']],
    whole: { id: [['id']], model: [['model']], finishReason: [['stop_reason']] },
    event: { id: [['message', 'id']], model: [['message', 'model']], finishReason: [['delta', 'stop_reason']] },
  },
});

function allowedTokens(body: RequestView<'max_tokens'>): number | null {
  const maxTokens = body.field('max_tokens');
  return typeof maxTokens === 'number' && maxTokens > 0 ? Math.ceil(maxTokens) : null;
}

/** `service_tier: "priority"` is paid by commitment, not by tokens. */
function termsOf(object: Record<string, unknown>): PriceTerms {
  const usage = { ...fieldsAt(object, 'message', 'usage'), ...fieldsAt(object, 'usage') };
  const searches = countOf(fieldsAt(usage, 'server_tool_use').web_search_requests) ?? 0;
  return { tier: usage.speed === 'fast' ? tierNamed(usage.speed) : null, searches };
}

type Json = Record<string, unknown>;

const reasons: Record<string, StopReason> = {
  end_turn: 'end',
  max_tokens: 'length',
  stop_sequence: 'sequence',
  tool_use: 'tool',
  pause_turn: 'pause',
  refusal: 'filter',
  model_context_window_exceeded: 'window',
};

/** An unknown reason counts as a normal end. */
export function parseStop({ stop_reason, stop_sequence, stop_details }: Json): Stop {
  const reason = entryOf(reasons, stop_reason) ?? 'end';
  const detail = isObject(stop_details) ? stop_details.explanation : undefined;
  return {
    reason,
    sequence: typeof stop_sequence === 'string' ? stop_sequence : undefined,
    detail: typeof detail === 'string' ? detail : undefined,
  };
}

const names: Record<StopReason, string> = {
  end: 'end_turn',
  sequence: 'stop_sequence',
  tool: 'tool_use',
  length: 'max_tokens',
  window: 'model_context_window_exceeded',
  pause: 'pause_turn',
  filter: 'refusal',
  malformed: 'end_turn',
};

export function renderStop({ reason, sequence }: Stop): { stop_reason: string; stop_sequence: string | null } {
  return { stop_reason: names[reason], stop_sequence: sequence ?? null };
}

/** The API always tells the input: an estimate stands for one that the provider did not report. */
export function renderUsage(reported: TokenUsage | null, { estimatedInputTokens }: AnswerContext): Json {
  const usage = reported ?? noUsage;
  return {
    input_tokens: promptTokens(usage) > 0 ? usage.input : estimatedInputTokens,
    cache_creation_input_tokens: usage.cacheWrite,
    cache_read_input_tokens: usage.cacheRead,
    cache_creation: {
      ephemeral_5m_input_tokens: usage.cacheWrite - usage.cacheWriteOneHour,
      ephemeral_1h_input_tokens: usage.cacheWriteOneHour,
    },
    output_tokens: usage.output + usage.reasoning,
    ...(usage.reasoning > 0 ? { output_tokens_details: { thinking_tokens: usage.reasoning } } : {}),
  };
}
