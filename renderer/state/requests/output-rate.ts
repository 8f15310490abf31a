import type { RequestView } from '../../../server/contract/request-views.ts';

/** In less time than this, the answer arrived all at once and has no meaningful rate. */
const shortestMs = 100;

/** Tokens per second of a streamed answer, measured from its first byte; null if unknown, as when only a reservation is. */
export function outputRateOf(
  request: Pick<RequestView, 'stream' | 'outcome' | 'usage' | 'usageCertainty' | 'firstByteMs' | 'totalMs'>,
): number | null {
  const { stream, outcome, usage, usageCertainty, firstByteMs, totalMs } = request;
  if (!stream || outcome !== 'ok' || usageCertainty === 'reserved' || firstByteMs === null || totalMs === null)
    return null;
  const tokens = usage?.outputTokens ?? 0;
  const durationMs = totalMs - firstByteMs;
  return tokens === 0 || durationMs < shortestMs ? null : Math.round((tokens * 10_000) / durationMs) / 10;
}
