import type { RequestView } from '../../../server/contract/request-views.ts';

/** Below this the answer came at once, and a rate would say nothing. */
const shortestMs = 100;

/** Tokens per second of a streamed answer, from its first byte on; null where it cannot be known. */
export function outputRateOf(
  request: Pick<RequestView, 'stream' | 'outcome' | 'usage' | 'usageCertainty' | 'firstByteMs' | 'totalMs'>,
): number | null {
  const { stream, outcome, usage, firstByteMs, totalMs } = request;
  if (!stream || outcome !== 'ok' || firstByteMs === null || totalMs === null) return null;
  const tokens = usage?.outputTokens ?? 0;
  const durationMs = totalMs - firstByteMs;
  return tokens === 0 || durationMs < shortestMs ? null : Math.round((tokens * 10_000) / durationMs) / 10;
}
