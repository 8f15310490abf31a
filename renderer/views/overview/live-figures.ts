/** Current activity, derived from the live list. Pure. */
import type { LiveRequest } from '../../state/requests/live-request.ts';

/** The period that counts as current. */
const nowMs = 20_000;

/**
 * Output tokens per second over the last twenty seconds. A request's tokens are known only at its end, and are spread
 * over its duration.
 */
export function tokensPerSecond(requests: readonly LiveRequest[], atMs: number): number {
  let tokens = 0;
  for (const { startedAt, firstByteMs, totalMs, usage } of requests) {
    if (totalMs === null || !usage?.outputTokens) continue;
    const endMs = startedAt + totalMs;
    const beginMs = Math.min(startedAt + (firstByteMs ?? 0), endMs - 1);
    const overlapMs = Math.min(endMs, atMs) - Math.max(beginMs, atMs - nowMs);
    if (overlapMs > 0) tokens += usage.outputTokens * (overlapMs / (endMs - beginMs));
  }
  return tokens / (nowMs / 1_000);
}

interface Caller {
  keyId: string;
  /** Number of running requests. */
  running: number;
}

/** Keys with a request that is running or ended a moment ago, the latest first. */
export function callersOf(requests: readonly LiveRequest[], atMs: number): Caller[] {
  const callers = new Map<string, Caller>();
  for (const { keyId, outcome, startedAt, totalMs } of requests) {
    if (keyId === null) continue;
    const isRunning = outcome === null;
    if (!isRunning && startedAt + (totalMs ?? 0) < atMs - nowMs) continue;
    const caller = callers.get(keyId) ?? { keyId, running: 0 };
    caller.running += Number(isRunning);
    callers.set(keyId, caller);
  }
  return [...callers.values()];
}
