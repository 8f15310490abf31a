/** The common part of the cloud wires for embeddings. */
import { isObject } from '../contract/is-object.ts';
import { conversationUsage } from './conversation-usage.ts';
import { wholeDocument } from './whole-document.ts';
import type { KeptAnswer, UsageFormat, WholeFormat, Wire } from './wire.ts';

type EmbeddingsParts = Pick<Wire, 'name' | 'request' | 'errors'> & Pick<WholeFormat, 'marks' | 'judge'>;

export function cloudEmbeddings({ name, request, errors, marks, judge }: EmbeddingsParts): Wire {
  return {
    name,
    operation: 'embeddings',
    request,
    whole: { kind: 'json', marks, judge, isNeverLonger: false, maxHeldBytes: 8 * 1024 * 1024, isNumbers: true },
    errors,
    usage,
    stream: null,
    rescue: null,
  };
}

const usage: UsageFormat = conversationUsage({
  allowedTokens: () => 0,
  answersPaid: () => 1,
  unknownOutputTokens: 0,
  reported,
});

/** Titan's `inputTextTokenCount`; on Vertex AI `statistics` of each prediction, or `usageMetadata`. */
function reported(answer: KeptAnswer) {
  const document = wholeDocument(answer);
  const predictions = Array.isArray(document?.predictions) ? document.predictions : [];
  const metadata = isObject(document?.usageMetadata) ? document.usageMetadata.promptTokenCount : undefined;
  const counts = [document?.inputTextTokenCount, metadata, ...predictions.map(countIn)].filter(
    (count) => typeof count === 'number',
  );
  return counts.length === 0 ? null : { inputTokens: counts.reduce((sum, count) => sum + count, 0), outputTokens: 0 };
}

function countIn(prediction: unknown): unknown {
  const embeddings = isObject(prediction) ? prediction.embeddings : undefined;
  const statistics = isObject(embeddings) ? embeddings.statistics : undefined;
  return isObject(statistics) ? statistics.token_count : undefined;
}
