/** Views of limits: their use, and the limits that were reached. */
import type { Budget, Limits } from './config.ts';
import type { Pace } from './pace.ts';

export type LimitScope = 'key' | 'group';

/** A key or group that has limits. */
export interface Limited {
  scope: LimitScope;
  id: string;
  /** The group itself, or the group of the key. */
  groupId: string;
  name: string;
  limits: Limits;
  /** Unix milliseconds; earlier usage belongs to a removed key of the same id. */
  sinceMs: number;
}

/** A limit and its present usage, including the reservations of running requests. */
export interface LimitMeter {
  /** `requests` and `tokens` are per minute; `concurrent` counts running requests. */
  kind: 'requests' | 'tokens' | 'concurrent' | 'budget';
  /** Set for a `budget` only. */
  budget: Budget | null;
  amount: number;
  /** US dollars, tokens or requests. */
  used: number;
  /** For a budget in dollars: the number of requests of unknown cost, which `used` does not include. */
  unpriced: number;
  /** Of a budget with a period: how it goes on. Null if that cannot be told. */
  pace: Pace | null;
  /** When usage returns to zero, in Unix milliseconds; null if it does not do so at a given time. */
  resetsAt: number | null;
}

/** The percentages of a budget that are reported, from the lowest. */
export function noticePercents({ notifyAt = [80, 100] }: Budget): number[] {
  return [...new Set(notifyAt)].sort((a, b) => a - b);
}

/** A percentage of a budget that is to be reported is spent. Reported once in each period. */
export interface LimitReached {
  scope: LimitScope;
  id: string;
  name: string;
  budget: Budget;
  percent: number;
  used: number;
  /** Unix milliseconds; null if never. */
  resetsAt: number | null;
}
