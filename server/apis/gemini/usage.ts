/** Usage and finish reasons of Gemini's API: what an answer tells, and what clients are told. */
import { isObject } from '../../contract/is-object.ts';
import type { PriceTerms, Usage } from '../../contract/ledger.ts';
import { entryOf } from '../core/table-entry.ts';
import { conversationUsage } from '../core/usage/conversation-usage.ts';
import { fieldsAt, tierNamed } from '../core/usage/price-terms.ts';
import { countOf, reportedUsage, sumOfCounts, type UsageReports } from '../core/usage/reported-usage.ts';
import { promptTokens, type Stop, type StopReason, type TokenUsage } from '../neutral/neutral-answer.ts';
import { asksForSpeech, geminiRequest, outputLimitOf } from './request.ts';

/** In a stream, each event counts what was used so far; the last one may lack what an earlier one has. */
export const geminiReports: UsageReports = {
  name: 'usageMetadata',
  places: [['usageMetadata']],
  isComplete: (metadata) => 'promptTokenCount' in metadata,
  toUsage,
};

const configured = (name: string) => [
  ['generationConfig', name],
  ['generation_config', name],
];
const answered = {
  id: [['responseId']],
  model: [['modelVersion']],
  finishReason: [['candidates', '*', 'finishReason']],
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
  facts: {
    temperature: configured('temperature'),
    maxTokens: [...configured('maxOutputTokens'), ...configured('max_output_tokens')],
    whole: answered,
    event: answered,
  },
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

type Json = Record<string, unknown>;

const reasons: Record<string, StopReason> = {
  STOP: 'end',
  MAX_TOKENS: 'length',
  SAFETY: 'filter',
  RECITATION: 'filter',
  LANGUAGE: 'filter',
  BLOCKLIST: 'filter',
  PROHIBITED_CONTENT: 'filter',
  SPII: 'filter',
  IMAGE_SAFETY: 'filter',
  IMAGE_PROHIBITED_CONTENT: 'filter',
  IMAGE_RECITATION: 'filter',
  // Vertex AI's Model Armor has blocked the answer.
  MODEL_ARMOR: 'filter',
  MALFORMED_FUNCTION_CALL: 'malformed',
  UNEXPECTED_TOOL_CALL: 'malformed',
  TOO_MANY_TOOL_CALLS: 'malformed',
};

/**
 * An unknown reason counts as a normal end. Without any content it does not: Gemini ends like this (OTHER) what it withholds
 * and does not say why.
 */
export function parseFinish(reason: unknown, hasContent: boolean): Stop {
  const known = entryOf(reasons, reason);
  if (known !== undefined) return { reason: known };
  return hasContent ? { reason: 'end' } : { reason: 'filter', detail: String(reason) };
}

const names: Record<StopReason, string> = {
  end: 'STOP',
  sequence: 'STOP',
  tool: 'STOP',
  pause: 'STOP',
  length: 'MAX_TOKENS',
  window: 'MAX_TOKENS',
  filter: 'SAFETY',
  malformed: 'MALFORMED_FUNCTION_CALL',
};

export function renderFinish(reason: StopReason): string {
  return names[reason];
}

export function renderUsageMetadata(usage: TokenUsage): Json {
  const prompt = promptTokens(usage);
  const { cacheRead, output, reasoning } = usage;
  return {
    promptTokenCount: prompt,
    candidatesTokenCount: output,
    totalTokenCount: prompt + output + reasoning,
    ...(cacheRead > 0 ? { cachedContentTokenCount: cacheRead } : {}),
    ...(reasoning > 0 ? { thoughtsTokenCount: reasoning } : {}),
  };
}
