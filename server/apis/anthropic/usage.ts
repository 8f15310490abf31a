/** Usage of requests of `POST /v1/messages`. */
import { conversationUsage } from '../core/usage/conversation-usage.ts';
import { reportedUsage, type UsageReports } from '../core/usage/reported-usage.ts';
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
});

function allowedTokens(body: RequestView<'max_tokens'>): number | null {
  const maxTokens = body.field('max_tokens');
  return typeof maxTokens === 'number' && maxTokens > 0 ? Math.ceil(maxTokens) : null;
}
