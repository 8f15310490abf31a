/** Estimates what a request will use before it is sent. */
import type { Capability } from '../../../contract/capability.ts';
import type { Usage } from '../../../contract/ledger.ts';
import { numberOf } from '../../core/number-of.ts';
import type { MeasuredRequest, RequestView } from '../../core/wire.ts';

/** English text averages about four bytes per token. */
const bytesPerToken = 4;
/** Images inside JSON are large but cost few tokens. */
const maxInputTokens = 32_000;
/** Clients often allow far more than they get. */
const maxOutputTokens = 4_096;
const unstatedOutputTokens = 512;

/** `answers`: the number that may be billed. */
export function likelyUsage(operation: Capability, body: MeasuredRequest, answers: number): Usage {
  switch (operation) {
    case 'chat':
    case 'completions':
    case 'responses':
      return { inputTokens: promptTokens(body), outputTokens: outputTokens(body) * answers };
    case 'embeddings':
      return { inputTokens: promptTokens(body), outputTokens: 0 };
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

function promptTokens(body: MeasuredRequest): number {
  return Math.min(Math.ceil(body.size / bytesPerToken), maxInputTokens);
}

function outputTokens(body: MeasuredRequest): number {
  return Math.min(statedOutputTokens(body) ?? unstatedOutputTokens, maxOutputTokens);
}

function requestedSeconds(value: unknown): number {
  const seconds = numberOf(value ?? 1);
  return Number.isFinite(seconds) && seconds > 0 ? seconds : 1;
}

const limitFields = ['max_completion_tokens', 'max_output_tokens', 'max_tokens'] as const;

/** The output limit that a request sets: the largest of its fields, since services differ in which one they obey. */
export function statedOutputTokens(body: RequestView): number | null {
  let most: number | null = null;
  for (const name of limitFields) {
    const limit = body.field(name);
    if (typeof limit === 'number' && limit > 0) most = Math.max(most ?? 0, Math.ceil(limit));
  }
  return most;
}
