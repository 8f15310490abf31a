/** What a request will use, before it is sent: at most, and probably. */

import type { Usage } from '../../../contract/ledger.ts';
import type { Capability } from '../../../contract/operations.ts';
import { mostInput, referredIn, type SizeOf } from '../../core/referred-input.ts';
import { runningFor } from '../../core/requests/tool-runners.ts';
import { numberOf } from '../../core/token-counts.ts';
import { likelyPromptTokens, mostPromptTokens } from '../../core/usage/prompt-estimate.ts';
import type { MeasuredRequest, ModelBounds } from '../../core/wire.ts';
import { outputLimitOf, type UsageField } from './output-limit.ts';

/** The output limit of today's largest models. */
const unknownOutputTokens = 128_000;
/** For the source images of an edit and their prompt. */
const tokensPerEdit = 40_000;
/** Audio at 16 kbit/s, a low rate for speech. */
const audioBytesPerSecond = 2_000;
/** Short recordings may be compressed further, and may be billed with a minimum length. */
const minAudioSeconds = 60;
const heardTokensPerSecond = 20;
const writtenTokensPerSecond = 10;
/** Speech at a quarter of the usual speed. */
const spokenTokensPerCharacter = 6;
/** Longer than any service's default. */
const unstatedVideoSeconds = 20;

type Measured = Pick<MeasuredRequest<never>, 'size' | 'recording'>;

/** What the request asks for. */
interface Asked {
  operation: Capability;
  /** Answers that may be billed. */
  answers: number;
  /** For images: the request starts from existing ones. */
  isEdit: boolean;
}

export function worstUsage(
  { operation, answers, isEdit }: Asked,
  body: MeasuredRequest<UsageField>,
  model: ModelBounds,
  sizeOf?: SizeOf,
): Usage {
  switch (operation) {
    case 'chat':
    case 'completions':
    case 'responses':
      return {
        inputTokens: promptTokens(body, model, sizeOf),
        outputTokens: mostOutputTokens(operation, body, model) * answers,
      };
    case 'embeddings':
    case 'moderations':
      return { inputTokens: body.size, outputTokens: 0 };
    case 'images':
      return ofImages(body, answers, isEdit);
    case 'videos':
      return { seconds: positive(body.field('seconds')) ?? unstatedVideoSeconds };
    case 'speech':
      return ofSpeech(body);
    default:
      return ofRecording(body);
  }
}

/** A token is at least one byte long. Conversations, and what the provider runs, add to the prompt. */
function promptTokens(body: MeasuredRequest<UsageField>, { contextTokens }: ModelBounds, sizeOf?: SizeOf): number {
  const ownTokens = body.captured ? mostPromptTokens(body.captured) : 0;
  const referred = referredIn(body.captured);
  const isOpen = referred.isOpen || body.field('conversation') != null || runningFor(body).runs;
  return mostInput(ownTokens, { ...referred, isOpen }, contextTokens, sizeOf);
}

function mostOutputTokens(operation: Capability, body: MeasuredRequest<UsageField>, model: ModelBounds): number {
  const { outputTokens: modelMaxTokens, contextTokens } = model;
  const modelLimit = Math.min(modelMaxTokens ?? Number.POSITIVE_INFINITY, contextTokens ?? Number.POSITIVE_INFINITY);
  return Math.min(outputLimitOf(operation, body) ?? unknownOutputTokens, modelLimit, maxOutputTokens);
}

/** Larger limits in a request are ignored. */
const maxOutputTokens = 10_000_000;

/** Both in tokens and in images, because services bill by one or the other. */
function ofImages(body: MeasuredRequest<UsageField>, images: number, isEdit: boolean): Usage {
  const tokens = Math.ceil(images * tokensOfImage(body));
  return { inputTokens: isEdit ? tokensPerEdit : body.size, outputTokens: tokens, imageOutputTokens: tokens, images };
}

const squarePixels = 1_024 * 1_024;
/** OpenAI's token counts for a square image of 1,024 pixels. */
const tokensByQuality = new Map<unknown, number>([
  ['low', 272],
  ['medium', 1_056],
]);
const tokensOfBest = 4_160;
const unstatedPixels = 1.5 * squarePixels;

function tokensOfImage(body: MeasuredRequest<UsageField>): number {
  const size = body.field('size');
  const [, width, height] = /^(\d{1,5})x(\d{1,5})$/.exec(typeof size === 'string' ? size.slice(0, 16) : '') ?? [];
  const pixels = width && height ? Number(width) * Number(height) : unstatedPixels;
  return (tokensByQuality.get(body.field('quality')) ?? tokensOfBest) * Math.max(1, pixels / squarePixels);
}

function ofSpeech({ size }: Measured): Usage {
  const tokens = size * spokenTokensPerCharacter;
  return { inputTokens: size, outputTokens: tokens, audioOutputTokens: tokens, characters: size };
}

/** A header that only states a length may state less than there is. */
function ofRecording({ size, recording }: Measured): Usage {
  const bySize = recording?.isMeasured ? 0 : size / audioBytesPerSecond;
  const seconds = Math.ceil(Math.max(minAudioSeconds, bySize, recording?.seconds ?? 0));
  const inputTokens = seconds * heardTokensPerSecond;
  return { inputTokens, audioInputTokens: inputTokens, outputTokens: seconds * writtenTokensPerSecond, seconds };
}

function positive(value: unknown): number | null {
  const number = numberOf(value ?? 0);
  return Number.isFinite(number) && number > 0 ? Math.min(number, maxSeconds) : null;
}

const maxSeconds = 3_600;

/** Clients often allow far more than they get. */
const maxLikelyTokens = 4_096;
const unstatedOutputTokens = 512;

/** `answers`: the number that may be billed. */
export function likelyUsage(operation: Capability, body: MeasuredRequest<UsageField>, answers: number): Usage {
  switch (operation) {
    case 'chat':
    case 'completions':
    case 'responses':
      return { inputTokens: likelyPromptTokens(body), outputTokens: likelyOutputTokens(operation, body) * answers };
    case 'embeddings':
      return { inputTokens: likelyPromptTokens(body), outputTokens: 0 };
    case 'images':
      return { images: answers };
    case 'videos':
      return { seconds: requestedSeconds(body.field('seconds')) };
    case 'speech':
      return { characters: body.size };
    default:
      return {};
  }
}

function likelyOutputTokens(operation: Capability, body: MeasuredRequest<UsageField>): number {
  return Math.min(outputLimitOf(operation, body) ?? unstatedOutputTokens, maxLikelyTokens);
}

function requestedSeconds(value: unknown): number {
  const seconds = numberOf(value ?? 1);
  return Number.isFinite(seconds) && seconds > 0 ? seconds : 1;
}
