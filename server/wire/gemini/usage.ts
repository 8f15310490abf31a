/** Estimates and reads token usage of Gemini's API. */
import { isObject } from '../../contract/is-object.ts';
import type { Usage } from '../../contract/ledger.ts';
import { conversationUsage } from '../conversation-usage.ts';
import { membersOfEnd } from '../json/find-members.ts';
import { parseObject } from '../json/parse-object.ts';
import { numberOf } from '../number-of.ts';
import { wholeDocument } from '../whole-document.ts';
import type { KeptAnswer, MeasuredRequest } from '../wire.ts';

export const geminiUsage = conversationUsage({
  allowedTokens,
  answersPaid: candidatesOf,
  // Default of `maxOutputTokens` of the largest models.
  unknownOutputTokens: 65_536,
  reported,
});

function allowedTokens(body: MeasuredRequest): number | null {
  const config = body.field('generationConfig');
  const maxTokens = isObject(config) ? (config.maxOutputTokens ?? config.max_output_tokens) : undefined;
  return typeof maxTokens === 'number' && maxTokens > 0 ? Math.ceil(maxTokens) : null;
}

/** Google's limit for `candidateCount`. */
const maxCandidates = 8;

function candidatesOf(body: MeasuredRequest): number {
  const config = body.field('generationConfig');
  const count = isObject(config) ? numberOf(config.candidateCount ?? config.candidate_count ?? 1) : 1;
  return count >= 1 ? Math.min(Math.ceil(count), maxCandidates) : 1;
}

/** Reads `usageMetadata`. In a stream, the last one counts, since it includes the earlier ones. */
function reported(answer: KeptAnswer): Usage | null {
  const document = wholeDocument(answer);
  return toUsage(document ? document.usageMetadata : lastMetadata(answer.tail));
}

function lastMetadata(tail: Buffer): unknown {
  const last = membersOfEnd(tail, 'usageMetadata').findLast(({ end }) => end !== null);
  return last?.end ? parseObject(tail.toString('utf8', last.start, last.end)) : null;
}

/** `promptTokenCount` includes cached tokens but excludes those of tools; `candidatesTokenCount` excludes thoughts. */
function toUsage(metadata: unknown): Usage | null {
  if (!isObject(metadata)) return null;
  const cached = countOf(metadata.cachedContentTokenCount);
  const thoughts = countOf(metadata.thoughtsTokenCount);
  const audioInput = countOfSound(metadata.promptTokensDetails);
  const audioOutput = countOfSound(metadata.candidatesTokensDetails);
  return {
    inputTokens: countOf(metadata.promptTokenCount) + countOf(metadata.toolUsePromptTokenCount),
    outputTokens: countOf(metadata.candidatesTokenCount) + thoughts,
    ...(cached > 0 && { cachedInputTokens: cached }),
    ...(thoughts > 0 && { reasoningTokens: thoughts }),
    ...(audioInput > 0 && { audioInputTokens: audioInput }),
    ...(audioOutput > 0 && { audioOutputTokens: audioOutput }),
  };
}

function countOfSound(details: unknown): number {
  const sound = Array.isArray(details) ? details.find((each) => isObject(each) && each.modality === 'AUDIO') : null;
  return isObject(sound) ? countOf(sound.tokenCount) : 0;
}

/** Protobuf's JSON may encode a number as a string. */
function countOf(value: unknown): number {
  const count = numberOf(value ?? 0);
  return Number.isFinite(count) ? count : 0;
}
