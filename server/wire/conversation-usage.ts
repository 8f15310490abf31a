/** Usage of conversations whose API is not OpenAI's: estimates by size, and what the answer reports. */
import type { Usage } from '../contract/ledger.ts';
import { estimateTokens } from './estimate-tokens.ts';
import { plausibleUsage, unbounded } from './plausible-usage.ts';
import { promptTokensOf } from './prompt-tokens.ts';
import type { ExtractedUsage, KeptAnswer, MeasuredRequest, ModelBounds, UsageFormat, UsageHints } from './wire.ts';

/** What differs between the APIs. */
interface ConversationUsage {
  /** The maximum of tokens that the request allows for each answer; null if it sets none. */
  allowedTokens(body: MeasuredRequest): number | null;
  /** The number of answers that are billed. */
  answersPaid(body: MeasuredRequest): number;
  /** Output limit of the largest current model. */
  unknownOutputTokens: number;
  /** Null if the answer reports no usage. */
  reported(answer: KeptAnswer): Usage | null;
}

/** English text has about four bytes per token. */
const bytesPerToken = 4;
/** Caps the likely input, because images within JSON are large but cost few tokens. */
const maxLikelyInput = 32_000;
/** Clients allow far more output than they get: Claude Code 32,000 tokens. */
const maxLikelyOutput = 4_096;
/** For content that is only referenced, such as a file or video; no model's context window is larger. */
const maxReferredTokens = 10_000_000;
/** For thoughts that are not part of the answer. */
const maxHiddenTokens = 1_000_000;

export function conversationUsage(api: ConversationUsage): UsageFormat {
  const { allowedTokens, answersPaid, unknownOutputTokens, reported } = api;
  return {
    likely: (body) => ({
      inputTokens: Math.min(Math.ceil(body.size / bytesPerToken), maxLikelyInput),
      outputTokens: Math.min(allowedTokens(body) ?? maxLikelyOutput, maxLikelyOutput),
    }),
    worst(body: MeasuredRequest, { outputTokens, contextTokens }: ModelBounds): Usage {
      const window = contextTokens ?? Number.POSITIVE_INFINITY;
      const input = body.captured ? promptTokensOf(body.captured) : body.size;
      const output = allowedTokens(body) ?? unknownOutputTokens;
      const maxOutput = Math.min(output, outputTokens ?? output, window);
      return { inputTokens: Math.min(input, window), outputTokens: maxOutput * answersPaid(body) };
    },
    hints: ({ size }, answerBytes) => ({
      most: { ...unbounded, inputTokens: size + maxReferredTokens, outputTokens: answerBytes + maxHiddenTokens },
    }),
    read(answer: KeptAnswer, hints: UsageHints): ExtractedUsage {
      const found = reported(answer);
      if (!found) return { usage: null, certainty: 'none', status: null };
      const { usage, isMended } = plausibleUsage(found, hints.most ?? unbounded);
      // The rest is estimated: a stream may have told its input where it was not kept.
      const isWhole = usage.inputTokens !== undefined && usage.outputTokens !== undefined;
      return { usage, certainty: isMended || !isWhole ? 'estimated' : 'reported', status: null };
    },
    text: { ofPrompt, ofAnswer, isOnlyPrompt: false },
  };
}

function ofPrompt(json: Buffer): number {
  return Math.ceil(promptTokensOf(json) / bytesPerToken);
}

function ofAnswer({ tail, bytes }: KeptAnswer): number {
  const tailLength = Math.max(1, tail.length);
  return Math.ceil((estimateTokens(tail.toString()) * bytes) / tailLength);
}
