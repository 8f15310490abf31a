/** Usage of requests of Bedrock's Converse API. */
import { isObject } from '../../contract/is-object.ts';
import type { Usage } from '../../contract/ledger.ts';
import { countOf, sumOfCounts } from '../core/token-counts.ts';
import { conversationUsage } from '../core/usage/conversation-usage.ts';
import { fieldsAt, tierNamed } from '../core/usage/price-terms.ts';
import { reportedUsage, type UsageReports, usageBesideCache } from '../core/usage/reported-usage.ts';
import type { RequestView } from '../core/wire.ts';

/** Streams report it in `metadata`, their last event. */
export const converseReports: UsageReports = {
  name: 'usage',
  places: [['metadata', 'usage']],
  isComplete: () => true,
  toUsage,
};

export const converseUsage = conversationUsage({
  allowedTokens,
  answersPaid: () => 1,
  members: { prompts: ['system', 'messages'], schemas: ['toolConfig'] },
  // The limit of gpt-oss, the largest model that is used this way.
  unknownOutputTokens: 131_072,
  reported: (answer) => reportedUsage(answer, converseReports),
  asks: (body: RequestView<'inferenceConfig' | 'serviceTier'>) => {
    const tier = body.field('serviceTier');
    return { tier: isObject(tier) ? tierNamed(tier.type) : null };
  },
  termsOf: (object) => ({ tier: tierIn(object) ?? tierIn(fieldsAt(object, 'metadata')), searches: 0 }),
  facts: {
    temperature: [['inferenceConfig', 'temperature']],
    maxTokens: [['inferenceConfig', 'maxTokens']],
    // It names neither itself nor its model.
    whole: { id: [], model: [], finishReason: [['stopReason']] },
    event: { id: [], model: [], finishReason: [['messageStop', 'stopReason']] },
  },
});

function allowedTokens(body: RequestView<'inferenceConfig'>): number | null {
  const config = body.field('inferenceConfig');
  const maxTokens = isObject(config) ? config.maxTokens : undefined;
  return typeof maxTokens === 'number' && maxTokens > 0 ? Math.ceil(maxTokens) : null;
}

/**
 * Input tokens exclude those that are read from a cache, or written to one; output tokens include thinking, which is not
 * counted separately. `cacheDetails`: `[{"inputTokens":100,"ttl":"1h"}]`.
 */
function toUsage(fields: Record<string, unknown>): Usage | null {
  const writtenByTtl = sumOfCounts(fields.cacheDetails, 'inputTokens', () => true);
  return usageBesideCache({
    input: countOf(fields.inputTokens),
    cacheRead: countOf(fields.cacheReadInputTokens) ?? 0,
    cacheWritten: countOf(fields.cacheWriteInputTokens) ?? writtenByTtl,
    writtenForAnHour: sumOfCounts(fields.cacheDetails, 'inputTokens', ({ ttl }) => ttl === '1h'),
    output: countOf(fields.outputTokens),
  });
}

const tierIn = (object: Record<string, unknown>) => tierNamed(fieldsAt(object, 'serviceTier').type);
