/** What goes on at this moment, out of the live list. Pure. */
import type { LiveRequest } from '../../state/live-request.ts';

/** What counts as now. */
const nowMs = 20_000;

/** Output tokens a second of the last twenty seconds. A request's tokens are told at its end, and spread over its time. */
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

export interface Caller {
  keyId: string;
  /** Requests that run. */
  running: number;
}

/** Who has a request running, or had one a moment ago; the latest first. */
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
