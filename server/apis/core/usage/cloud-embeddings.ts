/** The common part of the cloud wires for embeddings. */

import type { KeptAnswer, UsageFormat, WholeFormat, Wire } from '../wire.ts';
import { conversationUsage } from './conversation-usage.ts';
import { countsAt } from './reported-usage.ts';

type EmbeddingsParts<Name extends string> = Pick<Wire<Name>, 'name' | 'request' | 'errorName'> &
  Pick<WholeFormat, 'marks' | 'judge'>;

export function cloudEmbeddings<Name extends string>({
  name,
  request,
  errorName,
  marks,
  judge,
}: EmbeddingsParts<Name>): Wire<Name> {
  return {
    name,
    operation: 'embeddings',
    request,
    whole: { kind: 'json', marks, judge, isNeverLonger: false, maxHeldBytes: 8 * 1024 * 1024, isNumbers: true },
    errorName,
    usage,
    stream: null,
    rescue: null,
  };
}

const usage: UsageFormat<never> = conversationUsage({
  allowedTokens: () => 0,
  answersPaid: () => 1,
  members: { prompts: ['inputText', 'texts', 'instances', 'content'], schemas: [] },
  unknownOutputTokens: 0,
  asks: () => ({ tier: null }),
  reported,
});

/**
 * Titan's `inputTextTokenCount`; on Vertex AI `usageMetadata.promptTokenCount`, or
 * `predictions[].embeddings.statistics.token_count`.
 */
function reported(answer: KeptAnswer) {
  const places = [['inputTextTokenCount', 1] as const, ['promptTokenCount', 2] as const, ['token_count', 5] as const];
  for (const [name, level] of places) {
    const counts = countsAt(answer, name, level);
    if (counts.length > 0) return { inputTokens: counts.reduce((sum, count) => sum + count, 0), outputTokens: 0 };
  }
  return null;
}
