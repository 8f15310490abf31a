/** Usage of conversations whose API is not OpenAI's: estimates by size, and what the answer reports. */
import type { Usage } from '../../../contract/ledger.ts';
import { parseObject } from '../../json/parse-object.ts';
import { mostInput, referredIn, type SizeOf } from '../referred-input.ts';
import { runningFor } from '../requests/tool-runners.ts';
import { linesOf } from '../sse-framing.ts';
import type {
  ExtractedUsage,
  FactPlaces,
  KeptAnswer,
  MeasuredRequest,
  ModelBounds,
  UsageFormat,
  UsageHints,
  WholeFormat,
  Wire,
} from '../wire.ts';
import { askedTerms, type OwnTerms, readPriceTerms, type TermsOf } from './price-terms.ts';
import {
  estimatePrompt,
  estimateTokens,
  likelyPromptTokens,
  mostPromptTokens,
  type PromptMembers,
} from './prompt-estimate.ts';
import { countsAt, plausibleUsage, unbounded } from './reported-usage.ts';

/** What differs between the APIs. */
interface ConversationUsage<Name extends string> {
  /** The maximum of tokens that the request allows for each answer; null if it sets none. */
  allowedTokens: (body: MeasuredRequest<Name>) => number | null;
  /** The number of answers that are billed. */
  answersPaid: (body: MeasuredRequest<Name>) => number;
  /** Output limit of the largest current model. */
  unknownOutputTokens: number;
  /** Where requests have their prompt. */
  members: PromptMembers;
  /** Null if the answer reports no usage. */
  reported(answer: KeptAnswer): Usage | null;
  /** What a request asks for in fields of its API alone. */
  asks: (body: MeasuredRequest<Name>) => OwnTerms;
  /** What an object of the answer tells of its price; absent: nothing. */
  termsOf?: TermsOf;
  facts?: FactPlaces;
}

/** Clients allow far more output than they get: Claude Code 32,000 tokens. */
const maxLikelyOutput = 4_096;
/** For content that is only referenced, such as a file or video; no model's context window is larger. */
const maxReferredTokens = 10_000_000;
/** For thoughts that are not part of the answer. */
const maxHiddenTokens = 1_000_000;

export function conversationUsage<Name extends string>(api: ConversationUsage<Name>): UsageFormat<Name> {
  const { allowedTokens, answersPaid, unknownOutputTokens, reported, termsOf, facts } = api;
  return {
    likely: (body) => ({
      inputTokens: likelyPromptTokens(body),
      outputTokens: Math.min(allowedTokens(body) ?? maxLikelyOutput, maxLikelyOutput) * answersPaid(body),
    }),
    worst(body: MeasuredRequest<Name>, { outputTokens, contextTokens }: ModelBounds, sizeOf?: SizeOf): Usage {
      const window = contextTokens ?? Number.POSITIVE_INFINITY;
      const input = body.captured ? mostPromptTokens(body.captured) : body.size;
      const output = allowedTokens(body) ?? unknownOutputTokens;
      const maxOutput = Math.min(output, outputTokens ?? output, window);
      const referred = referredIn(body.captured);
      // What the provider runs puts its results into the prompt.
      const isOpen = referred.isOpen || runningFor(body).runs;
      const inputTokens = mostInput(input, { ...referred, isOpen }, contextTokens, sizeOf);
      return { inputTokens, outputTokens: maxOutput * answersPaid(body) };
    },
    hints: ({ size }, answerBytes) => ({
      most: { ...unbounded, inputTokens: size + maxReferredTokens, outputTokens: answerBytes + maxHiddenTokens },
    }),
    read(answer: KeptAnswer, hints: UsageHints): ExtractedUsage {
      const found = reported(answer);
      if (!found) return { usage: null, certainty: 'none', status: null };
      const { usage, isCorrected } = plausibleUsage(found, hints.most ?? unbounded);
      // The rest is estimated: a stream may have told its input where it was not kept.
      const isWhole = usage.inputTokens !== undefined && usage.outputTokens !== undefined;
      return { usage, certainty: isCorrected || !isWhole ? 'estimated' : 'reported', status: null };
    },
    asks: (body) => askedTerms(body, api.asks(body)),
    ...(termsOf && { terms: (answer: KeptAnswer) => readPriceTerms(answer, termsOf) }),
    ...(facts && { facts }),
    text: { ofPrompt: (json) => estimatePrompt(json, api.members), ofAnswer, isOnlyPrompt: false },
  };
}

/** Counts words alone where the answer, or its end, consists of whole events. */
function ofAnswer({ tail, bytes }: KeptAnswer): number {
  const words = wordsOf(tail.toString());
  const tailLength = Math.max(1, tail.length);
  return Math.ceil((estimateTokens(words ?? tail.toString()) * bytes) / tailLength);
}

/** What the model says, thinks and calls tools with, in a whole answer or the events of a stream; null if it is neither. */
function wordsOf(text: string): string | null {
  const answer = parseObject(text);
  const events = answer
    ? [answer]
    : linesOf(text).map((line) => (line.startsWith('data:') ? parseObject(line.slice(5)) : null));
  const known = events.filter((event) => event !== null);
  return known.length === 0 ? null : known.map((event) => wordsIn(event)).join('');
}

/** Members that hold words in Anthropic's, Gemini's and Bedrock's API: texts, or the arguments of a call as an object. */
const wordNames = new Set(['text', 'thinking', 'partial_json', 'name', 'input', 'args']);

/** Answers are nested less deeply. */
const maxDepth = 32;

function wordsIn(value: unknown, isWord = false, depth = 0): string {
  if (typeof value === 'string') return isWord ? value : '';
  if (typeof value !== 'object' || value === null || depth === maxDepth) return '';
  return Object.entries(value)
    .map(([name, member]) => wordsIn(member, isWord || wordNames.has(name), depth + 1))
    .join('');
}

type EmbeddingsParts<Name extends string> = Pick<Wire<Name>, 'name' | 'request' | 'errorName'> &
  Pick<WholeFormat, 'members' | 'judge'>;

/** The common part of the cloud wires for embeddings. */
export function cloudEmbeddings<Name extends string>({
  name,
  request,
  errorName,
  members,
  judge,
}: EmbeddingsParts<Name>): Wire<Name> {
  return {
    name,
    operation: 'embeddings',
    request,
    whole: { kind: 'json', members, judge, isNeverLonger: false, maxHeldBytes: 8 * 1024 * 1024, isNumbers: true },
    errorName,
    usage,
    stream: null,
    rescue: null,
  };
}

const usage: UsageFormat<never> = conversationUsage({
  allowedTokens: () => 0,
  answersPaid: () => 1,
  members: { prompts: ['inputText', 'texts', 'instances', 'content'], schemas: [] },
  unknownOutputTokens: 0,
  asks: () => ({ tier: null }),
  reported,
});

/**
 * Titan's `inputTextTokenCount`; on Vertex AI `usageMetadata.promptTokenCount`, or
 * `predictions[].embeddings.statistics.token_count`.
 */
function reported(answer: KeptAnswer) {
  const places = [['inputTextTokenCount', 1] as const, ['promptTokenCount', 2] as const, ['token_count', 5] as const];
  for (const [name, level] of places) {
    const counts = countsAt(answer, name, level);
    if (counts.length > 0) return { inputTokens: counts.reduce((sum, count) => sum + count, 0), outputTokens: 0 };
  }
  return null;
}
