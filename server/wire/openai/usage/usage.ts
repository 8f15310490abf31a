/** What requests to OpenAI's API use, by what they ask for. */
import type { Capability } from '../../../contract/capability.ts';
import type { MostUsage } from '../../plausible-usage.ts';
import type {
  MeasuredRequest,
  RequestFormat,
  RequestView,
  TextEstimates,
  UsageFormat,
  UsageHints,
} from '../../wire.ts';
import { estimatePrompt } from './estimate-prompt.ts';
import { estimateReply } from './estimate-reply.ts';
import { extractUsage } from './extract.ts';
import { likelyUsage } from './likely-usage.ts';
import { worstUsage } from './worst-usage.ts';

/** `isEdit`: of pictures, there are some to begin with. */
export function openaiUsage(operation: Capability, request: RequestFormat, isEdit = false): UsageFormat {
  return {
    likely: (body) => likelyUsage(operation, body, request.answersPaid(body)),
    worst: (body, model) => worstUsage({ operation, answers: request.answersPaid(body), isEdit }, body, model),
    hints: (body, answerBytes) => ({
      ...ofRequest(operation, body),
      most: mostUsage(operation, body, answerBytes + request.answersPaid(body) * mostHiddenTokens),
    }),
    read: (answer, hints) => extractUsage(operation, answer, hints),
    text: textEstimates(operation),
  };
}

function textEstimates(operation: Capability): TextEstimates | null {
  const isOnlyPrompt = operation === 'embeddings';
  const isText = isOnlyPrompt || operation === 'chat' || operation === 'completions' || operation === 'responses';
  return isText ? { ofPrompt: estimatePrompt, ofAnswer: estimateReply, isOnlyPrompt } : null;
}

/** Earlier responses, files, pages that were searched: what a request only refers to. No model's window is larger. */
const mostReferredTokens = 10_000_000;
/** Reasoning that is not told. */
const mostHiddenTokens = 1_000_000;
const mostFilmSeconds = 3_600;
/** Half of what the thriftiest codec for speech needs. */
const leastAudioBytesPerSecond = 64;
/** So long a recording may be, however short its file. */
const usualAudioSeconds = 3_600;

function mostUsage(operation: Capability, { size }: MeasuredRequest, outputTokens: number): MostUsage {
  return {
    inputTokens: size + mostReferredTokens,
    outputTokens,
    seconds: operation === 'videos' ? mostFilmSeconds : Math.max(usualAudioSeconds, size / leastAudioBytesPerSecond),
  };
}

function ofRequest(operation: Capability, body: RequestView): UsageHints {
  switch (operation) {
    case 'speech':
      return ofSpeech(body);
    case 'videos':
      return quantity('seconds', body.field('seconds'), mostFilmSeconds);
    case 'images':
      return quantity('images', body.field('n') ?? 1, Number.POSITIVE_INFINITY);
    default:
      return {};
  }
}

/** What is too long to be read counts by its bytes. */
function ofSpeech(body: RequestView): UsageHints {
  const input = body.field('input');
  if (typeof input === 'string') return { inputCharacters: countCharacters(input) };
  const text = body.raw('input')?.bytes;
  return text?.[0] === quote ? { inputCharacters: text.length } : {};
}

const quote = 0x22;

/** As people count them; a list of them would be many times as long. */
function countCharacters(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

function quantity(name: 'seconds' | 'images', value: unknown, most: number): UsageHints {
  const number = Number(value);
  return number > 0 && Number.isFinite(number) ? { [name]: Math.min(number, most) } : {};
}
