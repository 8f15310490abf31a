/** Usage of requests of `POST /v1/messages`. */
import type { PriceTerms } from '../../contract/ledger.ts';
import { conversationUsage } from '../core/usage/conversation-usage.ts';
import { fieldsAt, tierNamed } from '../core/usage/price-terms.ts';
import { reportedUsage, type UsageReports } from '../core/usage/reported-usage.ts';
import { countOf } from '../core/usage/token-counts.ts';
import { anthropicUsage } from '../core/usage/usage-beside-cache.ts';
import type { RequestView } from '../core/wire.ts';

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
