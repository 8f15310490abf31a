import type { Usage } from '../contract/ledger.ts';
import type { Route } from '../wire/route.ts';
import type { RequestBody } from './request-body.ts';

/** English text has about four bytes to a token. */
const bytesPerToken = 4;
/** Images within JSON are large and cost few tokens. */
const mostInputTokens = 32_000;
/** Clients like to allow far more than they get. */
const mostOutputTokens = 4_096;
const unstatedOutputTokens = 512;

const outputFields = ['max_completion_tokens', 'max_output_tokens', 'max_tokens'] as const;

/**
 * What a request may use, as far as it can be told before it is sent: held against its limits while it runs. Rough, and
 * replaced by what it really used.
 */
export function estimateReservation(route: Route, body: RequestBody): Usage {
  if (route.method !== 'POST' || route.model === 'none') return {};
  switch (route.wire.operation) {
    case 'chat':
    case 'completions':
    case 'responses':
      return { inputTokens: promptTokens(body), outputTokens: outputTokens(body) };
    case 'embeddings':
      return { inputTokens: promptTokens(body), outputTokens: 0 };
    case 'images':
      return { images: requestedQuantity(body.field('n')) };
    case 'videos':
      return { seconds: requestedQuantity(body.field('seconds')) };
    case 'speech':
      return { characters: body.size };
    default:
      return {};
  }
}

function promptTokens(body: RequestBody): number {
  return Math.min(Math.ceil(body.size / bytesPerToken), mostInputTokens);
}

function outputTokens(body: RequestBody): number {
  for (const name of outputFields) {
    const most = body.field(name);
    if (typeof most === 'number' && most > 0) return Math.min(Math.ceil(most), mostOutputTokens);
  }
  return unstatedOutputTokens;
}

function requestedQuantity(value: unknown): number {
  const number = Number(value ?? 1);
  return Number.isFinite(number) && number > 0 ? number : 1;
}
