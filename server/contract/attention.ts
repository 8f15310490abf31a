/** Which keys and groups need a person's attention. Pure. */

import { type LimitMeter, noticePercents } from './limits.ts';
import { dayMs } from './units.ts';

/** How long before it expires a key is spoken of. */
const noticeMs = 7 * dayMs;

interface Expiring {
  enabled: boolean;
  /** ISO 8601; null: never. */
  expiresAt: string | null;
}

/** Null: nothing is to be said of a key's expiry. */
export function expiryConcern({ enabled, expiresAt }: Expiring, nowMs: number): 'expired' | 'expires' | null {
  if (!enabled || expiresAt === null) return null;
  const atMs = Date.parse(expiresAt);
  if (atMs <= nowMs) return 'expired';
  return atMs - nowMs < noticeMs ? 'expires' : null;
}

/** From the first percentage on that the engine reports; of a budget that reports none once it is spent. */
export function isNearlySpent({ budget, used, amount }: LimitMeter): boolean {
  if (budget === null) return false;
  const [first = 100] = noticePercents(budget);
  return used >= (amount * first) / 100;
}

/** What its requests cost is nowhere counted: such a budget never ends. */
export function isUnpriced({ budget, unpriced }: LimitMeter): boolean {
  return budget !== null && unpriced > 0;
}

/** Of the budgets of a key or group. */
export function needsAttention(limitUse: readonly LimitMeter[]): boolean {
  return limitUse.some((meter) => isNearlySpent(meter) || isUnpriced(meter));
}
