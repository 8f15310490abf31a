/** Keys and groups with limits, and what their requests come to. */
import { type Budget, limitsSchema } from '../../../server/contract/config.ts';
import type { Limited } from '../../../server/contract/limits.ts';
import type { Amounts } from '../../../server/ledger/usage-history.ts';
import type { fakeLimiter } from './fake-limiter.ts';

export const hourMs = 3_600_000;

export const dayMs = 24 * hourMs;

export const none = { usd: 0, tokens: 0 };

export const exactly = (amounts: Amounts) => ({ likely: amounts, most: amounts });

export const cent = { usd: 0.01, tokens: 10 };

export function limited(limits: object, scope: 'key' | 'group' = 'key'): Limited {
  const id = scope === 'key' ? 'k' : 'g';
  return { scope, id, name: id, limits: limitsSchema.parse(limits), sinceMs: 0 };
}

export const budget = (amount: number, per: Budget['per'], more: Partial<Budget> = {}) =>
  limited({ budgets: [{ unit: 'usd', amount, per, ...more }] });

export type Fake = ReturnType<typeof fakeLimiter>;
