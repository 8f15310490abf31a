/** What is told of limits: how much of them is used, which was reached. */
import type { Budget, Limits } from './config.ts';

/** Whose limit it is. */
export type LimitScope = 'key' | 'group';

/** A key or group that has limits. */
export interface Limited {
  scope: LimitScope;
  id: string;
  name: string;
  limits: Limits;
  /** Unix milliseconds; what was before is that of another key of the same id. */
  sinceMs: number;
}

/** One limit with what is used of it now, what requests under way have reserved included. */
export interface LimitMeter {
  /** `requests` and `tokens` are by the minute, `concurrent` are requests that run. */
  kind: 'requests' | 'tokens' | 'concurrent' | 'budget';
  /** Null but for a `budget`. */
  budget: Budget | null;
  amount: number;
  /** US dollars, tokens or requests. */
  used: number;
  /** Of a budget in money: requests of its period that are not in `used`, since nobody knows what they cost. */
  unpriced: number;
  /** Unix milliseconds from which on nothing of it is used; null where no time does that. */
  resetsAt: number | null;
}

/** A budget of which 80 or 100 percent are spent; told once in each of its periods. */
export interface LimitReached {
  scope: LimitScope;
  id: string;
  name: string;
  budget: Budget;
  percent: 80 | 100;
  used: number;
  /** Unix milliseconds; null: never. */
  resetsAt: number | null;
}
