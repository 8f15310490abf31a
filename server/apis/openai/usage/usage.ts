/** Usage of requests to OpenAI's API, by operation. */
import type { Usage } from '../../../contract/ledger.ts';
import type { Capability } from '../../../contract/operations.ts';
import { mostInput, referredIn, type SizeOf } from '../../core/referred-input.ts';
import { runningFor } from '../../core/requests/tool-runners.ts';
import { askedTerms, type OwnTerms, readPriceTerms, tierNamed } from '../../core/usage/price-terms.ts';
import {
  estimatePrompt,
  likelyPromptTokens,
  mostPromptTokens,
  type PromptMembers,
} from '../../core/usage/prompt-estimate.ts';
import {
  countOf,
  isEventStream,
  latestReport,
  numberOf,
  plausibleUsage,
  type UsageReports,
  unbounded,
  usageOfAnswer,
  wholeDocument,
} from '../../core/usage/reported-usage.ts';
import {
  type ExtractedUsage,
  type FactPlaces,
  type KeptAnswer,
  type MeasuredRequest,
  type ModelBounds,
  type MostUsage,
  maxTextBytes,
  type RequestFormat,
  type RequestView,
  type TextEstimates,
  type UsageFormat,
  type UsageHints,
} from '../../core/wire.ts';
import { membersOfBeginning, membersOfEnd } from '../../json/json-peek.ts';
import { estimateAnswer } from './estimate-answer.ts';
import { openaiTerms, plainReports, responseReports } from './usage-shapes.ts';

/**
 * How many answers or images a request asks for. Pure.
 *
 * A number, or its text in a form; at least 1. Of two and a half answers, two are made, if any.
 */
export function answerCountOf(value: unknown): number {
  const count = numberOf(value);
  return Number.isFinite(count) && count >= 1 ? Math.floor(count) : 1;
}

/** OpenAI's maximum for `n` is 128. A larger number is refused or reduced, so no more is reserved or billed. */
const maxPaidAnswers = 128;

/** As `countOf`, up to the number that may be billed. */
export function paidCountOf(value: unknown): number {
  return Math.min(answerCountOf(value), maxPaidAnswers);
}

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
    facts: operation === 'responses' ? responseFacts : plainFacts,
    text: textEstimates(operation),
  };
}

const plainAnswer = { id: [['id']], model: [['model']], finishReason: [['choices', '*', 'finish_reason']] };
const plainFacts: FactPlaces = {
  temperature: [['temperature']],
  maxTokens: [['max_completion_tokens'], ['max_tokens']],
  whole: plainAnswer,
  event: plainAnswer,
};

/** A response has no reason but that it is incomplete. */
const responseFacts: FactPlaces = {
  temperature: [['temperature']],
  maxTokens: [['max_output_tokens']],
  whole: { id: [['id']], model: [['model']], finishReason: [['incomplete_details', 'reason'], ['status']] },
  event: {
    id: [['response', 'id']],
    model: [['response', 'model']],
    finishReason: [
      ['response', 'incomplete_details', 'reason'],
      ['response', 'status'],
    ],
  },
};

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
      return numberOf(body.field('n') ?? 1) > 0 ? { images: answerCountOf(body.field('n')) } : {};
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

interface ReportedUsage {
  usage: Usage | null;
  /** Of a response object; null if it has none. */
  status: string | null;
  /** Number of images in the response; null if they cannot be counted. */
  images: number | null;
}

/**
 * Reads what a response of OpenAI's API tells about its usage: tokens, a length, images, and the state of its work.
 * Pure.
 */
function readReportedUsage(capability: Capability, answer: KeptAnswer, isStream: boolean): ReportedUsage {
  const reports = capability === 'responses' ? responseReports : plainReports;
  if (isStream) return fromStream(answer, reports);
  const document = reportsOnlyUsage.has(capability) ? null : wholeDocument(answer);
  return document ? fromDocument(capability, document, reports) : fromEnds(capability, answer, reports);
}

/** Nothing else of their responses is recorded, so that even a short one need not be parsed. */
const reportsOnlyUsage: ReadonlySet<Capability> = new Set(['chat', 'completions', 'embeddings']);

/** For transcriptions and videos without `usage`: the member that holds the duration of the media. */
const lengthNames: Partial<Record<Capability, 'duration' | 'seconds'>> = {
  transcription: 'duration',
  translation: 'duration',
  videos: 'seconds',
};

function fromStream(answer: KeptAnswer, reports: UsageReports): ReportedUsage {
  const { usage = null, owner = null } = latestReport(answer, reports) ?? {};
  const status = reports === responseReports ? owner?.status : null;
  return { usage, status: typeof status === 'string' ? status : null, images: null };
}

function fromDocument(capability: Capability, document: Record<string, unknown>, reports: UsageReports): ReportedUsage {
  const length = lengthNames[capability];
  const { status, data } = document;
  return {
    usage: usageOfAnswer(document, reports) ?? ofLength(length && document[length]),
    status: typeof status === 'string' ? status : null,
    images: capability === 'images' && Array.isArray(data) ? data.length : null,
  };
}

function ofLength(value: unknown): Usage | null {
  const seconds = countOf(value);
  return seconds === undefined ? null : { seconds };
}

function fromEnds(capability: Capability, answer: KeptAnswer, reports: UsageReports): ReportedUsage {
  const { tail, head } = answer;
  const status = capability === 'responses' ? scalarIn(head, 'status', 'beginning') : null;
  const usage = latestReport(answer, reports)?.usage ?? null;
  const length = lengthNames[capability];
  if (usage !== null || !length) return { usage, status, images: null };
  const reported = scalarIn(head, length, 'beginning') ?? scalarIn(tail, length, 'end');
  return { usage: ofLength(reported), status, images: null };
}

const scalar = /^(?:"([\w.-]{1,40})"|(\d{1,20}(?:\.\d{1,20})?))(?=[\s,}])/;

function scalarIn(bytes: Buffer, name: string, end: 'beginning' | 'end'): string | null {
  const members = end === 'beginning' ? membersOfBeginning(bytes, name) : membersOfEnd(bytes, name);
  const member = members.findLast(({ level }) => level === 1);
  const found = member && scalar.exec(bytes.toString('latin1', member.start, member.start + 64));
  return found?.[1] ?? found?.[2] ?? null;
}

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

/** What a request will use, before it is sent: at most, and probably. */
function worstUsage(
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
      return mostOfSpeech(body);
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

function mostOfSpeech({ size }: Measured): Usage {
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
function likelyUsage(operation: Capability, body: MeasuredRequest<UsageField>, answers: number): Usage {
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

// The fields of a request on which its usage depends, and the limit that it sets to its output.

const outputLimitFields = ['max_completion_tokens', 'max_output_tokens', 'max_tokens'] as const;

type LimitField = (typeof outputLimitFields)[number];

/** Those that services obey. Services for chats differ in which one. */
const chatLimits = ['max_completion_tokens', 'max_tokens'] as const;
const responseLimits = ['max_output_tokens'] as const;
const completionLimits = ['max_tokens'] as const;

/** Null if the request sets none. */
function outputLimitOf(operation: Capability, body: RequestView<LimitField | 'messages' | 'input'>): number | null {
  return largestLimit(limitsOf(operation, body).map((name) => body.field(name))) ?? null;
}

function limitsOf(operation: Capability, body: RequestView<'messages' | 'input'>): readonly LimitField[] {
  if (operation === 'completions') return completionLimits;
  return operation === 'responses' || isOfResponses(body) ? responseLimits : chatLimits;
}

/** Whether the body of a chat is one of Responses. Cursor posts such to the chat path (router-for-me/CLIProxyAPI#658). */
export function isOfResponses(body: RequestView<'messages' | 'input'>): boolean {
  return body.raw('messages') === null && body.raw('input') !== null;
}

/** Of several limits, the one that bounds all services: what is sent is what is reserved. Undefined if there is none. */
export function largestLimit(limits: readonly unknown[]): number | undefined {
  const stated = limits.filter((limit) => typeof limit === 'number' && limit > 0) as number[];
  return stated.length === 0 ? undefined : Math.ceil(Math.max(...stated));
}

/** The fields on which the usage of a request depends, of any operation. */
export const usageFields = [
  ...outputLimitFields,
  'messages',
  'input',
  'prompt',
  'conversation',
  'n',
  'seconds',
  'size',
  'quality',
  'service_tier',
  'modalities',
] as const;

type UsageField = (typeof usageFields)[number];
