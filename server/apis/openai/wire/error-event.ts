import type { EventMeaning } from '../../core/stream-format.ts';
import { errorIn, type UpstreamError } from '../../core/upstream-error.ts';

/** The error in an event, or null. */
export function errorMeaningOf(value: Record<string, unknown>): EventMeaning | null {
  if (!value.error && value.type !== 'error' && value.type !== 'response.failed') return null;
  return { kind: 'error', error: errorIn(value) ?? unnamed };
}

const unnamed: UpstreamError = { message: '', type: '', code: '', param: null, retryAfterMs: null };
