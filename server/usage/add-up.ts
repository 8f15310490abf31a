/** Sums usage and cost over the attempts of a request. Pure. */

import type { AttemptRecord, Usage, UsageCertainty } from '../contract/ledger.ts';

/** Usage and cost of a request or of a part of it. */
export type Accounting = Pick<AttemptRecord, 'usage' | 'usageCertainty' | 'costUsd'>;

/** For a request without attempts. */
const nothing: Accounting = { usage: null, usageCertainty: 'none', costUsd: 0 };

/**
 * The sum is as certain as its least certain part. Its cost is the sum of the known costs, or unknown if there are
 * none.
 */
export function addUp(parts: readonly Accounting[]): Accounting {
  const [first = nothing, ...others] = parts;
  if (others.length === 0) return { usage: first.usage, usageCertainty: first.usageCertainty, costUsd: first.costUsd };
  return { usage: usageOf(parts), usageCertainty: certaintyOf(parts), costUsd: costOf(parts) };
}

/** A failed attempt costs nothing, but that alone does not make the total known. */
function costOf(parts: readonly Accounting[]): number | null {
  const knownCost = parts.reduce((sum, { costUsd }) => sum + (costUsd ?? 0), 0);
  return knownCost === 0 && parts.some(({ costUsd }) => costUsd === null) ? null : knownCost;
}

function usageOf(parts: readonly Accounting[]): Usage | null {
  let sum: Usage | null = null;
  for (const { usage } of parts) {
    if (usage !== null) sum = sum === null ? usage : sumOf(sum, usage);
  }
  return sum;
}

function sumOf(one: Usage, other: Usage): Usage {
  const sum: Usage = { ...one };
  for (const name of quantities) {
    const amount = other[name];
    if (amount !== undefined) sum[name] = (sum[name] ?? 0) + amount;
  }
  return sum;
}

/** A part of unknown usage that may have cost something makes the sum `partial`. */
function certaintyOf(parts: readonly Accounting[]): UsageCertainty {
  const certainties = parts.filter(({ usage }) => usage !== null).map(({ usageCertainty }) => usageCertainty);
  if (certainties.length === 0) return 'none';
  if (certainties.includes('reserved')) return 'reserved';
  if (certainties.includes('estimated')) return 'estimated';
  const isLacking = parts.some(({ usage, costUsd }) => usage === null && costUsd === null);
  return isLacking || certainties.includes('partial') ? 'partial' : 'reported';
}

const each: Record<keyof Usage, true> = {
  inputTokens: true,
  outputTokens: true,
  cachedInputTokens: true,
  cacheWriteTokens: true,
  cacheWriteOneHourTokens: true,
  reasoningTokens: true,
  audioInputTokens: true,
  audioOutputTokens: true,
  imageInputTokens: true,
  imageOutputTokens: true,
  seconds: true,
  characters: true,
  images: true,
};
const quantities = Object.keys(each) as (keyof Usage)[];
