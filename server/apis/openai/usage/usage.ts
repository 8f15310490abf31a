/** Usage of requests to OpenAI's API, by operation. */
import type { Capability } from '../../../contract/capability.ts';
import type { Usage } from '../../../contract/ledger.ts';
import { numberOf } from '../../core/number-of.ts';
import { type MostUsage, plausibleUsage, unbounded } from '../../core/plausible-usage.ts';
import { askedTerms, type OwnTerms } from '../../core/usage/asked-terms.ts';
import { readPriceTerms, tierNamed } from '../../core/usage/price-terms.ts';
import { estimatePrompt, type PromptMembers } from '../../core/usage/prompt-estimate.ts';
import { isEventStream } from '../../core/usage/reported-usage.ts';
import {
  type ExtractedUsage,
  type KeptAnswer,
  type MeasuredRequest,
  maxTextBytes,
  type RequestFormat,
  type RequestView,
  type TextEstimates,
  type UsageFormat,
  type UsageHints,
} from '../../core/wire.ts';
import { countOf } from './answer-count.ts';
import { estimateAnswer } from './estimate-answer.ts';
import { likelyUsage } from './likely-usage.ts';
import { readReportedUsage } from './reported-usage.ts';
import type { UsageField } from './usage-fields.ts';
import { openaiTerms } from './usage-shapes.ts';
import { worstUsage } from './worst-usage.ts';

/** `isEdit`: the request starts from existing images. */
export function openaiUsage<Name extends string>(
  operation: Capability,
  request: Pick<RequestFormat<Name>, 'answersPaid'>,
  isEdit = false,
): UsageFormat<Name | UsageField> {
  return {
    likely: (body) => likelyUsage(operation, body, request.answersPaid(body)),
    worst: (body, model, sizeOf) =>
      worstUsage({ operation, answers: request.answersPaid(body), isEdit }, body, model, sizeOf),
    hints: (body, answerBytes) => ({
      ...ofRequest(operation, body),
      most: mostUsage(operation, body, answerBytes + request.answersPaid(body) * maxHiddenTokens),
    }),
    read: (answer, hints) => extractUsage(operation, answer, hints),
    asks: (body) => askedTerms(body, ownTerms(operation, body)),
    terms: (answer) => readPriceTerms(answer, openaiTerms),
    text: textEstimates(operation),
  };
}

/** Without a tier, or with `auto`, the project's settings choose it. Source: OpenAI, API reference, `service_tier`. */
function ownTerms(operation: Capability, body: RequestView<UsageField>): OwnTerms {
  const tier = body.field('service_tier');
  const kinds = body.field('modalities');
  return {
    tier: tierNamed(tier),
    isTierOpen: tieredOperations.has(operation) && (tier == null || tier === 'auto'),
    speaks: Array.isArray(kinds) && kinds.includes('audio'),
  };
}

const tieredOperations: ReadonlySet<Capability> = new Set(['chat', 'completions', 'responses']);

/** Of chat, completions, responses and embeddings. */
const members: PromptMembers = {
  prompts: ['messages', 'prompt', 'input', 'instructions', 'suffix'],
  schemas: ['tools', 'functions', 'response_format', 'text'],
};

function textEstimates(operation: Capability): TextEstimates | null {
  const isOnlyPrompt = operation === 'embeddings';
  const isText = isOnlyPrompt || operation === 'chat' || operation === 'completions' || operation === 'responses';
  return isText ? { ofPrompt: (json) => estimatePrompt(json, members), ofAnswer: estimateAnswer, isOnlyPrompt } : null;
}

/** Earlier responses, files, web search results: what a request only refers to. No model's context window is larger. */
const maxReferredTokens = 10_000_000;
/** Reasoning that is not reported. */
const maxHiddenTokens = 1_000_000;
const maxFilmSeconds = 3_600;
/** Half of what the most efficient speech codec needs. */
const minAudioBytesPerSecond = 64;
/** Allowed for any recording, however small its file. */
const usualAudioSeconds = 3_600;

function mostUsage(operation: Capability, { size }: { size: number }, outputTokens: number): MostUsage {
  return {
    inputTokens: size + maxReferredTokens,
    outputTokens,
    seconds: operation === 'videos' ? maxFilmSeconds : Math.max(usualAudioSeconds, size / minAudioBytesPerSecond),
  };
}

function ofRequest(operation: Capability, body: MeasuredRequest<UsageField>): UsageHints {
  switch (operation) {
    case 'speech':
      return ofSpeech(body);
    case 'videos':
      return ofVideo(body);
    case 'transcription':
    case 'translation':
      return body.recording ? { seconds: body.recording.seconds } : {};
    case 'images':
      return numberOf(body.field('n') ?? 1) > 0 ? { images: countOf(body.field('n')) } : {};
    default:
      return {};
  }
}

/** Text that is too long to be parsed counts by its bytes. */
function ofSpeech(body: RequestView<UsageField>): UsageHints {
  const input = body.field('input');
  if (typeof input === 'string') return { inputCharacters: countCharacters(input) };
  const { length = 0 } = body.raw('input')?.bytes ?? {};
  return length > maxTextBytes ? { inputCharacters: length } : {};
}

/** In code points, without the memory that an array of them takes. */
function countCharacters(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

function ofVideo(body: RequestView<UsageField>): UsageHints {
  const seconds = numberOf(body.field('seconds'));
  return seconds > 0 && Number.isFinite(seconds) ? { seconds: Math.min(seconds, maxFilmSeconds) } : {};
}

/** The usage that the response reports, or an estimate from the request. */
export function extractUsage(capability: Capability, answer: KeptAnswer, hints: UsageHints): ExtractedUsage {
  const isStream = isEventStream(answer);
  const isRead = isStream || /json/i.test(answer.contentType);
  const reported = isRead ? readReportedUsage(capability, answer, isStream) : null;
  const status = reported?.status ?? null;
  const fromRequest = alsoFromRequest(capability, hints, reported?.images ?? null);
  if (!reported?.usage) return { ...expected(capability, hints, fromRequest), status };
  const { usage, isCorrected } = plausibleUsage(reported.usage, hints.most ?? unbounded);
  if (isCorrected && Object.keys(usage).length === 0) return { ...expected(capability, hints, fromRequest), status };
  // Each image of a stream reports its own usage, and only the last one is in the tail.
  const isPartial = capability === 'images' && (hints.images ?? 1) > 1 && isStream;
  const certainty = isCorrected || lacksTotal(capability, usage) ? 'estimated' : isPartial ? 'partial' : 'reported';
  return { usage: { ...usage, ...fromRequest }, certainty, status };
}

/** The missing one is estimated. */
function lacksTotal(capability: Capability, { inputTokens, outputTokens }: Usage): boolean {
  const isText = capability === 'chat' || capability === 'completions' || capability === 'responses';
  return isText && (inputTokens === undefined || outputTokens === undefined);
}

const maxImages = 128;

function expected(capability: Capability, hints: UsageHints, fromRequest: Usage): Omit<ExtractedUsage, 'status'> {
  const usage = { ...fromRequest };
  const hasLength = capability === 'transcription' || capability === 'translation' || capability === 'videos';
  if (hasLength && isCount(hints.seconds)) usage.seconds = hints.seconds;
  const isKnown = Object.keys(usage).length > 0;
  return isKnown ? { usage, certainty: 'estimated' } : { usage: null, certainty: 'none' };
}

/**
 * Quantities that services bill by but do not report: characters and images. If a request asks for more images than any
 * service makes, those in the response count.
 */
function alsoFromRequest(capability: Capability, hints: UsageHints, images: number | null): Usage {
  if (capability === 'speech' && isCount(hints.inputCharacters)) return { characters: hints.inputCharacters };
  if (capability === 'images' && isCount(hints.images)) {
    return { images: hints.images > maxImages ? (images ?? maxImages) : hints.images };
  }
  return {};
}

const isCount = (value: number | undefined): value is number =>
  value !== undefined && Number.isFinite(value) && value >= 0;
