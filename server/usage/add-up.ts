/** What the attempts of a request used and cost together. Pure. */

import type { AttemptRecord, Usage, UsageCertainty } from '../contract/ledger.ts';

/** A part of a request's usage and cost, or all of it. */
export type Accounting = Pick<AttemptRecord, 'usage' | 'usageCertainty' | 'costUsd'>;

/** Where nobody was asked. */
const nothing: Accounting = { usage: null, usageCertainty: 'none', costUsd: 0 };

/** The sum is as certain as its least certain part. Its cost is that of the parts whose cost is known; unknown without any. */
export function addUp(parts: readonly Accounting[]): Accounting {
  const [only = nothing, ...others] = parts;
  if (others.length === 0) return { usage: only.usage, usageCertainty: only.usageCertainty, costUsd: only.costUsd };
  return { usage: usageOf(parts), usageCertainty: certaintyOf(parts), costUsd: costOf(parts) };
}

/** What failed costs nothing, which does not make the cost of the others known. */
function costOf(parts: readonly Accounting[]): number | null {
  const known = parts.reduce((sum, { costUsd }) => sum + (costUsd ?? 0), 0);
  return known === 0 && parts.some(({ costUsd }) => costUsd === null) ? null : known;
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
    const more = other[name];
    if (more !== undefined) sum[name] = (sum[name] ?? 0) + more;
  }
  return sum;
}

/** A part of which nothing is known, though it may have cost something, makes the whole a part. */
function certaintyOf(parts: readonly Accounting[]): UsageCertainty {
  const known = parts.filter(({ usage }) => usage !== null).map(({ usageCertainty }) => usageCertainty);
  if (known.length === 0) return 'none';
  if (known.includes('estimated')) return 'estimated';
  const isLacking = parts.some(({ usage, costUsd }) => usage === null && costUsd === null);
  return isLacking || known.includes('partial') ? 'partial' : 'reported';
}

const each: Record<keyof Usage, true> = {
  inputTokens: true,
  outputTokens: true,
  cachedInputTokens: true,
  cacheWriteTokens: true,
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
