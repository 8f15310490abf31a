/** Finish reasons and usage of Gemini's API, in both directions. */

import { entryOf } from '../../core/table-entry.ts';
import { promptTokens } from '../../neutral/answers/token-usage.ts';
import type { Stop, StopReason, TokenUsage } from '../../neutral/neutral-answer.ts';

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
