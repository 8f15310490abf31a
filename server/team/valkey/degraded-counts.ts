/** Limits while Valkey is unavailable: each replica allows an equal share, judged by its own counts. */

import { GatewayError } from '../../contract/errors.ts';
import type { Budget, Limits } from '../../contract/limit-settings.ts';
import type { Limited } from '../../contract/limits.ts';
import { type Account, largest } from '../../limits/account.ts';
import type { Counted } from '../../limits/meters.ts';
import { nameOf } from '../../limits/refusal.ts';
import type { Spent } from '../../store/sqlite/usage-history.ts';
import type { CountedSubject } from './counted-subject.ts';

const retryAfterSeconds = 5;

/** A replica's share of the limits, at least 1 of each; budgets as `DegradedCounts` counts them. */
export function shareOf(limits: Limits, replicas: number): Limits {
  const share = (amount: number | undefined) =>
    amount === undefined ? undefined : Math.max(1, Math.floor(amount / replicas));
  const { requestsPerMinute, tokensPerMinute, concurrent, budgets } = limits;
  return {
    requestsPerMinute: share(requestsPerMinute),
    tokensPerMinute: share(tokensPerMinute),
    concurrent: share(concurrent),
    budgets,
  };
}

/**
 * The counts of this replica. For a budget, what it has spent since the last reply is multiplied by the number of
 * replicas, because each of them may have spent the same. It is never less
 * than the amount in the ledger.
 */
export class DegradedCounts implements Counted {
  readonly requests: Counted['requests'];
  readonly tokens: Counted['tokens'];
  readonly running: number;
  readonly reserved: Counted['reserved'];
  readonly #account: Account;
  readonly #subject: CountedSubject;
  readonly #replicas: number;

  constructor(account: Account, subject: CountedSubject, replicas: number) {
    const { likely, most } = account.reserved;
    this.#account = account;
    this.#subject = subject;
    this.#replicas = replicas;
    this.requests = account.requests;
    this.tokens = account.tokens;
    this.running = account.running;
    this.reserved = { likely, most: { usd: most.usd * replicas, tokens: most.tokens * replicas } };
  }

  spent(per: Budget['per']): ReturnType<Counted['spent']> {
    const counted = this.#account.spent(per);
    const lastSpent = this.#subject.lastSpent(per, counted.period);
    if (!lastSpent) return counted;
    const ownSpent = this.#account.own(per);
    const since = (unit: keyof Spent) => Math.max(0, ownSpent[unit] - lastSpent.own[unit]) * this.#replicas;
    const { usd, tokens, unpriced } = lastSpent.all;
    const spent = largest(counted.spent, {
      usd: usd + since('usd'),
      tokens: tokens + since('tokens'),
      unpriced: unpriced + since('unpriced'),
    });
    return { period: counted.period, spent, isKnown: true };
  }
}

/** A hard budget blocks while its rest is unknown. */
export function countsUnavailable(limited: Limited): GatewayError {
  return new GatewayError(
    'shared_counts_unavailable',
    `Valkey, where the replicas of Sluice count together, cannot be reached now, so it is not known what is left of the hard budget of ${nameOf(limited)}. Please try again in a few seconds. To go on without it, set settings.sharedCounts.hardBudgets to "open".`,
    { retryAfterSeconds },
  );
}
