/** Usage of requests of Bedrock's Converse API. */
import { isObject } from '../../contract/is-object.ts';
import type { Usage } from '../../contract/ledger.ts';
import { conversationUsage } from '../conversation-usage.ts';
import { membersOfEnd } from '../json/find-members.ts';
import { parseObject } from '../json/parse-object.ts';
import type { KeptAnswer, MeasuredRequest } from '../wire.ts';

export const converseUsage = conversationUsage({
  allowedTokens,
  answersPaid: () => 1,
  // The limit of gpt-oss, the largest model that is used this way.
  unknownOutputTokens: 131_072,
  reported,
});

function allowedTokens(body: MeasuredRequest): number | null {
  const config = body.field('inferenceConfig');
  const most = isObject(config) ? config.maxTokens : undefined;
  return typeof most === 'number' && most > 0 ? Math.ceil(most) : null;
}

/** Streams report it in `metadata`, their last event. */
function reported({ tail, document }: KeptAnswer): Usage | null {
  return toUsage(document ? document.usage : lastUsage(tail));
}

function lastUsage(tail: Buffer): unknown {
  const last = membersOfEnd(tail, 'usage').findLast(({ end }) => end !== null);
  return last?.end ? parseObject(tail.toString('utf8', last.start, last.end)) : null;
}

/** Input tokens exclude those that are read from a cache, or written to one. */
function toUsage(fields: unknown): Usage | null {
  if (!isObject(fields)) return null;
  const read = countOf(fields.cacheReadInputTokens);
  const written = countOf(fields.cacheWriteInputTokens);
  return {
    inputTokens: countOf(fields.inputTokens) + read + written,
    outputTokens: countOf(fields.outputTokens),
    ...(read > 0 && { cachedInputTokens: read }),
    ...(written > 0 && { cacheWriteTokens: written }),
  };
}

function countOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}
