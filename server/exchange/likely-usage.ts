import type { Usage } from '../contract/ledger.ts';
import type { Route } from '../wire/route.ts';
import type { RequestBody } from './request-body.ts';
import { statedOutputTokens } from './stated-output.ts';

/** English text has about four bytes to a token. */
const bytesPerToken = 4;
/** Images within JSON are large and cost few tokens. */
const mostInputTokens = 32_000;
/** Clients like to allow far more than they get. */
const mostOutputTokens = 4_096;
const unstatedOutputTokens = 512;

/** Whether the route makes something that is paid for. */
export function isPaid({ method, model, job, isFree }: Route): boolean {
  return method === 'POST' && !isFree && (model !== 'none' || job?.behaviour === 'creates-from');
}

/**
 * What a request will probably use, as far as it can be told before it is sent: held against limits by the minute and
 * soft budgets while it runs. Rough, and replaced by what it really used.
 */
export function likelyUsage(route: Route, body: RequestBody): Usage {
  if (!isPaid(route)) return {};
  switch (route.wire.operation) {
    case 'chat':
    case 'completions':
    case 'responses':
      return {
        inputTokens: promptTokens(body),
        outputTokens: outputTokens(body) * route.wire.request.answersPaid(body),
      };
    case 'embeddings':
      return { inputTokens: promptTokens(body), outputTokens: 0 };
    case 'images':
      return { images: route.wire.request.answersPaid(body) };
    case 'videos':
      return { seconds: requestedSeconds(body.field('seconds')) };
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
  return Math.min(statedOutputTokens(body) ?? unstatedOutputTokens, mostOutputTokens);
}

function requestedSeconds(value: unknown): number {
  const seconds = Number(value ?? 1);
  return Number.isFinite(seconds) && seconds > 0 ? seconds : 1;
}
