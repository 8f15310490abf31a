/**
 * The most that a request can use, as far as that has a bound: held against hard budgets while it runs, so that no number
 * of requests at once passes such a budget by more than one of them costs. Where nothing tells how much it may be, a
 * figure stands that is seldom reached.
 */
import type { Capability } from '../../../contract/capability.ts';
import type { Usage } from '../../../contract/ledger.ts';
import type { MeasuredRequest, ModelBounds } from '../../wire.ts';
import { statedOutputTokens } from './likely-usage.ts';
import { readableBytes } from './readable-bytes.ts';

/** As many as the largest of today's models put out. */
const unknownOutputTokens = 128_000;
/** Of an earlier response, a conversation or pictures that a request only refers to. */
const referredTokens = 128_000;
const tokensPerPicture = 5_000;
/** Pictures that are sent to be changed, and what is said of them. */
const tokensPerEdit = 40_000;
/** Speech at 16 kbit/s, which is little for it. */
const audioBytesPerSecond = 2_000;
/** A short recording may be packed much tighter, and Groq bills ten seconds of each at least. */
const leastAudioSeconds = 60;
const heardTokensPerSecond = 20;
const writtenTokensPerSecond = 10;
/** Spoken at a quarter of the usual speed. */
const spokenTokensPerCharacter = 6;
/** Longer than any service makes them unless it is asked to. */
const unstatedVideoSeconds = 20;

/** What is asked for. */
interface Asked {
  operation: Capability;
  /** Answers that may have to be paid for. */
  answers: number;
  /** Of pictures: there are some to begin with. */
  isEdit: boolean;
}

export function worstUsage({ operation, answers, isEdit }: Asked, body: MeasuredRequest, model: ModelBounds): Usage {
  switch (operation) {
    case 'chat':
    case 'completions':
    case 'responses':
      return { inputTokens: promptTokens(body, model), outputTokens: outputTokens(body, model) * answers };
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

/** No token is shorter than a byte. */
function promptTokens(body: MeasuredRequest, { contextTokens }: ModelBounds): number {
  const { textBytes, pictures } = readableBytes(body.captured);
  const refers = body.field('previous_response_id') != null || body.field('conversation') != null;
  const tokens = textBytes + pictures * tokensPerPicture + (refers ? referredTokens : 0);
  return Math.min(tokens, contextTokens ?? Number.POSITIVE_INFINITY);
}

function outputTokens(body: MeasuredRequest, { outputTokens: known, contextTokens }: ModelBounds): number {
  const most = Math.min(known ?? Number.POSITIVE_INFINITY, contextTokens ?? Number.POSITIVE_INFINITY);
  return Math.min(statedOutputTokens(body) ?? unknownOutputTokens, most, mostOutputTokens);
}

/** No answer is longer, whatever a request allows. */
const mostOutputTokens = 10_000_000;

/** In tokens and by the piece, since services charge by the one or the other. */
function ofImages(body: MeasuredRequest, images: number, isEdit: boolean): Usage {
  const tokens = Math.ceil(images * tokensOfImage(body));
  return { inputTokens: isEdit ? tokensPerEdit : body.size, outputTokens: tokens, imageOutputTokens: tokens, images };
}

const squarePixels = 1_024 * 1_024;
/** What OpenAI charges for a square picture of 1,024 pixels. */
const tokensByQuality = new Map<unknown, number>([
  ['low', 272],
  ['medium', 1_056],
]);
const tokensOfBest = 4_160;
const unstatedPixels = 1.5 * squarePixels;

function tokensOfImage(body: MeasuredRequest): number {
  const [, width, height] = /^(\d{1,5})x(\d{1,5})$/.exec(String(body.field('size')).slice(0, 16)) ?? [];
  const pixels = width && height ? Number(width) * Number(height) : unstatedPixels;
  return (tokensByQuality.get(body.field('quality')) ?? tokensOfBest) * Math.max(1, pixels / squarePixels);
}

function ofSpeech({ size }: MeasuredRequest): Usage {
  const tokens = size * spokenTokensPerCharacter;
  return { inputTokens: size, outputTokens: tokens, audioOutputTokens: tokens, characters: size };
}

function ofRecording({ size }: MeasuredRequest): Usage {
  const seconds = Math.max(leastAudioSeconds, Math.ceil(size / audioBytesPerSecond));
  const heard = seconds * heardTokensPerSecond;
  return { inputTokens: heard, audioInputTokens: heard, outputTokens: seconds * writtenTokensPerSecond, seconds };
}

function positive(value: unknown): number | null {
  const number = Number(value ?? 0);
  return Number.isFinite(number) && number > 0 ? Math.min(number, mostSeconds) : null;
}

const mostSeconds = 3_600;
