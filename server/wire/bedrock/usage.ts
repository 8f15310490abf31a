/** Usage of requests of Bedrock's Converse API. */
import { isObject } from '../../contract/is-object.ts';
import type { Usage } from '../../contract/ledger.ts';
import { conversationUsage } from '../conversation-usage.ts';
import { membersOfEnd } from '../json/find-members.ts';
import { parseObject } from '../json/parse-object.ts';
import { wholeDocument } from '../whole-document.ts';
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
  const maxTokens = isObject(config) ? config.maxTokens : undefined;
  return typeof maxTokens === 'number' && maxTokens > 0 ? Math.ceil(maxTokens) : null;
}

/** Streams report it in `metadata`, their last event. */
function reported(answer: KeptAnswer): Usage | null {
  const document = wholeDocument(answer);
  return toUsage(document ? document.usage : lastUsage(answer.tail));
}

function lastUsage(tail: Buffer): unknown {
  const last = membersOfEnd(tail, 'usage').findLast(({ end }) => end !== null);
  return last?.end ? parseObject(tail.toString('utf8', last.start, last.end)) : null;
}

/** Input tokens exclude those that are read from a cache, or written to one. */
function toUsage(fields: unknown): Usage | null {
  if (!isObject(fields)) return null;
  const cacheRead = countOf(fields.cacheReadInputTokens);
  const cacheWritten = countOf(fields.cacheWriteInputTokens);
  return {
    inputTokens: countOf(fields.inputTokens) + cacheRead + cacheWritten,
    outputTokens: countOf(fields.outputTokens),
    ...(cacheRead > 0 && { cachedInputTokens: cacheRead }),
    ...(cacheWritten > 0 && { cacheWriteTokens: cacheWritten }),
  };
}

function countOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}
