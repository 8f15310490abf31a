/** Estimates and reads token usage of Gemini's API. */
import { isObject } from '../../contract/is-object.ts';
import type { Usage } from '../../contract/ledger.ts';
import { estimateTokens } from '../estimate-tokens.ts';
import { membersOfEnd } from '../json/find-members.ts';
import { parseObject } from '../json/parse-object.ts';
import { plausibleUsage, unbounded } from '../plausible-usage.ts';
import { promptTokensOf } from '../prompt-tokens.ts';
import type { ExtractedUsage, KeptAnswer, MeasuredRequest, ModelBounds, UsageFormat, UsageHints } from '../wire.ts';

/** English text has about four bytes per token. */
const bytesPerToken = 4;
/** Caps the likely input, because images within JSON are large and cost few tokens. */
const mostLikelyInput = 32_000;
const mostLikelyOutput = 4_096;
/** Default of `maxOutputTokens` of the largest models. */
const unknownOutputTokens = 65_536;
/** Limit for content that is only referred to, such as a video; no model's context window is larger. */
const mostReferredTokens = 10_000_000;
/** Limit for thoughts that are not part of the answer. */
const mostHiddenTokens = 1_000_000;

export const geminiUsage: UsageFormat = {
  likely: (body) => ({
    inputTokens: Math.min(Math.ceil(body.size / bytesPerToken), mostLikelyInput),
    outputTokens: Math.min(allowedTokens(body) ?? mostLikelyOutput, mostLikelyOutput),
  }),
  worst,
  hints: ({ size }, answerBytes) => ({
    most: { ...unbounded, inputTokens: size + mostReferredTokens, outputTokens: answerBytes + mostHiddenTokens },
  }),
  read,
  text: { ofPrompt, ofAnswer, isOnlyPrompt: false },
};

function allowedTokens(body: MeasuredRequest): number | null {
  const config = body.field('generationConfig');
  const most = isObject(config) ? (config.maxOutputTokens ?? config.max_output_tokens) : undefined;
  return typeof most === 'number' && most > 0 ? Math.ceil(most) : null;
}

/** Google's limit for `candidateCount`. */
const mostCandidates = 8;

function candidatesOf(body: MeasuredRequest): number {
  const config = body.field('generationConfig');
  const count = isObject(config) ? Number(config.candidateCount ?? config.candidate_count ?? 1) : 1;
  return count >= 1 ? Math.min(Math.ceil(count), mostCandidates) : 1;
}

function worst(body: MeasuredRequest, { outputTokens, contextTokens }: ModelBounds): Usage {
  const window = contextTokens ?? Number.POSITIVE_INFINITY;
  const input = body.captured ? promptTokensOf(body.captured) : body.size;
  const output = allowedTokens(body) ?? unknownOutputTokens;
  const most = Math.min(output, outputTokens ?? output, window);
  return { inputTokens: Math.min(input, window), outputTokens: most * candidatesOf(body) };
}

/** Reads `usageMetadata`. In a stream, the last one counts, since it includes the earlier ones. */
function read({ tail, document }: KeptAnswer, hints: UsageHints): ExtractedUsage {
  const told = toUsage(document ? document.usageMetadata : lastMetadata(tail));
  if (!told) return { usage: null, certainty: 'none', status: null };
  const { usage, isMended } = plausibleUsage(told, hints.most ?? unbounded);
  return { usage, certainty: isMended ? 'estimated' : 'reported', status: null };
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
  const sounds = countOfSound(metadata.promptTokensDetails);
  const told = countOfSound(metadata.candidatesTokensDetails);
  return {
    inputTokens: countOf(metadata.promptTokenCount) + countOf(metadata.toolUsePromptTokenCount),
    outputTokens: countOf(metadata.candidatesTokenCount) + thoughts,
    ...(cached > 0 && { cachedInputTokens: cached }),
    ...(thoughts > 0 && { reasoningTokens: thoughts }),
    ...(sounds > 0 && { audioInputTokens: sounds }),
    ...(told > 0 && { audioOutputTokens: told }),
  };
}

function countOfSound(details: unknown): number {
  const sound = Array.isArray(details) ? details.find((each) => isObject(each) && each.modality === 'AUDIO') : null;
  return isObject(sound) ? countOf(sound.tokenCount) : 0;
}

/** Protobuf's JSON may encode a number as a string. */
function countOf(value: unknown): number {
  const count = Number(value ?? 0);
  return Number.isFinite(count) ? count : 0;
}

function ofPrompt(json: Buffer): number {
  return Math.ceil(promptTokensOf(json) / bytesPerToken);
}

function ofAnswer({ tail, bytes }: KeptAnswer): number {
  const shown = Math.max(1, tail.length);
  return Math.ceil((estimateTokens(tail.toString()) * bytes) / shown);
}
