import type { AttemptRecord } from '../contract/ledger.ts';

/** Shorter streams arrived in a single piece, so their duration says nothing about the model. */
const minMs = 50;

/** Output tokens per second between the first content and the end of a streamed attempt; null if unknown. */
export function outputTokensPerSecond({ usage, firstContentMs, totalMs }: AttemptRecord): number | null {
  if (!usage?.outputTokens || firstContentMs === null || totalMs === null) return null;
  const ms = totalMs - firstContentMs;
  return ms < minMs ? null : (usage.outputTokens / ms) * 1_000;
}
