import type { LimitMeter } from '../contract/limits.ts';

/** OpenAI's rate limit headers, for the limits per minute with the least left. `reset`: the time until usage is zero. */
export function rateHeaders(meters: readonly LimitMeter[], nowMs: number): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const kind of ['requests', 'tokens'] as const) {
    const tightest = meters.filter((meter) => meter.kind === kind).sort((a, b) => leftOf(a) - leftOf(b))[0];
    if (!tightest) continue;
    headers[`x-ratelimit-limit-${kind}`] = String(tightest.amount);
    headers[`x-ratelimit-remaining-${kind}`] = String(leftOf(tightest));
    headers[`x-ratelimit-reset-${kind}`] = formatDuration(Math.max(0, (tightest.resetsAt ?? nowMs) - nowMs));
  }
  return headers;
}

function leftOf({ amount, used }: LimitMeter): number {
  return Math.max(0, Math.floor(amount - used));
}

/** In OpenAI's format: `0s`, `120ms`, `7.66s`, `6m0s`, `1h2m0s`. */
export function formatDuration(spanMs: number): string {
  if (spanMs > 0 && spanMs < 1_000) return `${Math.ceil(spanMs)}ms`;
  if (spanMs < 60_000) return `${Number((spanMs / 1_000).toFixed(3))}s`;
  const seconds = Math.ceil(spanMs / 1_000);
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor((seconds % 3_600) / 60)];
  return `${hours > 0 ? `${hours}h` : ''}${minutes}m${seconds % 60}s`;
}
