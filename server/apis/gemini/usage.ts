/** Estimates and reads token usage of Gemini's API. */
import { isObject } from '../../contract/is-object.ts';
import type { PriceTerms, Usage } from '../../contract/ledger.ts';
import { conversationUsage } from '../core/usage/conversation-usage.ts';
import { fieldsAt, tierNamed } from '../core/usage/price-terms.ts';
import { reportedUsage, type UsageReports } from '../core/usage/reported-usage.ts';
import { countOf, sumOfCounts } from '../core/usage/token-counts.ts';
import { asksForSpeech, geminiRequest, outputLimitOf } from './request.ts';

/** In a stream, each event counts what was used so far; the last one may lack what an earlier one has. */
export const geminiReports: UsageReports = {
  name: 'usageMetadata',
  places: [['usageMetadata']],
  isComplete: (metadata) => 'promptTokenCount' in metadata,
  toUsage,
};

export const geminiUsage = conversationUsage({
  allowedTokens: outputLimitOf,
  answersPaid: geminiRequest.answersPaid,
  members: {
    // The last two are those of embeddings.
    prompts: ['contents', 'systemInstruction', 'system_instruction', 'content', 'requests'],
    schemas: ['tools'],
  },
  // Default of `maxOutputTokens` of the largest models.
  unknownOutputTokens: 65_536,
  reported: (answer) => reportedUsage(answer, geminiReports),
  asks: (body) => ({
    tier: tierNamed(body.field('serviceTier') ?? body.field('service_tier')),
    speaks: asksForSpeech(body),
  }),
  termsOf,
});

/**
 * `promptTokenCount` includes cached tokens but excludes those of tools; `candidatesTokenCount` excludes thoughts. Counts
 * of 0 are omitted, but no prompt has none.
 */
function toUsage(metadata: Record<string, unknown>): Usage | null {
  const count = (name: string) => countOf(metadata[name]) ?? 0;
  const prompt = countOf(metadata.promptTokenCount);
  const thoughts = count('thoughtsTokenCount');
  const cached = count('cachedContentTokenCount');
  const output = count('candidatesTokenCount') + thoughts;
  if (prompt === undefined && output === 0 && cached === 0) return null;
  const soundIn = inputOfKind(metadata, 'AUDIO');
  const picturesIn = inputOfKind(metadata, 'IMAGE');
  const soundOut = countOfKind(metadata, 'candidates', 'AUDIO');
  const picturesOut = countOfKind(metadata, 'candidates', 'IMAGE');
  return {
    ...(prompt !== undefined && { inputTokens: prompt + count('toolUsePromptTokenCount') }),
    outputTokens: output,
    ...(cached !== 0 && { cachedInputTokens: cached }),
    ...(thoughts !== 0 && { reasoningTokens: thoughts }),
    ...(soundIn > 0 && { audioInputTokens: soundIn }),
    ...(picturesIn > 0 && { imageInputTokens: picturesIn }),
    ...(soundOut > 0 && { audioOutputTokens: soundOut }),
    ...(picturesOut > 0 && { imageOutputTokens: picturesOut }),
  };
}

/** Each token once: what was cached is billed as cached, and not as sound or picture. */
function inputOfKind(metadata: Record<string, unknown>, kind: string): number {
  const given = countOfKind(metadata, 'prompt', kind) + countOfKind(metadata, 'toolUsePrompt', kind);
  return Math.max(0, given - countOfKind(metadata, 'cache', kind));
}

type Side = 'prompt' | 'toolUsePrompt' | 'cache' | 'candidates';

function countOfKind(metadata: Record<string, unknown>, of: Side, kind: string): number {
  return sumOfCounts(metadata[`${of}TokensDetails`], 'tokenCount', ({ modality }) => modality === kind);
}

/** `trafficType` is Vertex AI's. Each query of a search is billed, or the request that searched. */
function termsOf(object: Record<string, unknown>): PriceTerms {
  const { trafficType, serviceTier } = fieldsAt(object, 'usageMetadata');
  const candidates = Array.isArray(object.candidates) ? object.candidates.filter(isObject) : [];
  const queries = candidates.map((candidate) => fieldsAt(candidate, 'groundingMetadata').webSearchQueries);
  const searches = queries.reduce<number>((sum, list) => sum + (Array.isArray(list) ? list.length : 0), 0);
  return { tier: tierNamed(serviceTier) ?? tierNamed(trafficType), searches };
}
