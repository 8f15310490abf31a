/**
 * The content of an upstream's error in any known form: OpenAI's, Anthropic's, Google's, Mistral's, or a stream event's.
 */

import { isObject } from '../../contract/is-object.ts';
import { hourMs } from '../../contract/units.ts';
import { boundedPattern } from '../../ground/bounded-pattern.ts';

export interface UpstreamError {
  message: string;
  type: string;
  code: string;
  param: string | null;
  /** Google's `retryDelay`. */
  retryAfterMs: number | null;
}

/** The error in the JSON of a response or event; null if there is none. */
export function errorIn(value: unknown): UpstreamError | null {
  const top = Array.isArray(value) ? value[0] : value;
  if (!isObject(top)) return null;
  const error = top.error ?? (isObject(top.response) ? top.response.error : undefined);
  if (typeof error === 'string' && error !== '') return { ...nothing, message: error, code: text(top.code) };
  if (isObject(error)) return toError(error);
  const isFlat = top.type === 'error' || top.object === 'error' || typeof top.detail === 'string';
  return isFlat ? toError({ ...top, message: top.message ?? top.detail }) : null;
}

function toError(error: Record<string, unknown>): UpstreamError {
  return {
    message: text(error.message),
    type: text(error.type ?? error.status),
    code: text(error.code ?? detailedCode(error.details)),
    param: typeof error.param === 'string' ? error.param : null,
    retryAfterMs: retryDelay(error.details),
  };
}

/** Anthropic's code, such as `enforced_spend_limit_reached`. */
function detailedCode(details: unknown): unknown {
  return isObject(details) ? details.error_code : undefined;
}

const nothing: UpstreamError = { message: '', type: '', code: '', param: null, retryAfterMs: null };

const delayInSeconds = boundedPattern(/^(\d+(?:\.\d+)?)s$/);

/** Wait for a daily quota, for which no `RetryInfo` can be trusted. Waits are limited to an hour in any case. */
const untilTomorrowMs = hourMs;

/** Google's QuotaFailure: `{"@type":"…/google.rpc.QuotaFailure","violations":[{"quotaId":"…PerDayPerProject…"}]}`. */
function isByDay(detail: unknown): boolean {
  const violations = isObject(detail) && Array.isArray(detail.violations) ? detail.violations : [];
  return violations.some((each) => isObject(each) && text(each.quotaId).includes('PerDay'));
}

/** Google's RetryInfo: `{"@type":"…/google.rpc.RetryInfo","retryDelay":"34.4s"}`. */
function retryDelay(details: unknown): number | null {
  if (!Array.isArray(details)) return null;
  if (details.some(isByDay)) return untilTomorrowMs;
  for (const detail of details) {
    const delay = isObject(detail) ? delayInSeconds.exec(text(detail.retryDelay))?.[1] : undefined;
    if (delay !== undefined) return Number(delay) * 1000;
  }
  return null;
}

function text(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
