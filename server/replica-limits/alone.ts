/** Limits while Valkey is unavailable: each replica allows an equal share, based on its own counts. */
import type { Budget, Limits } from '../contract/config.ts';
import { GatewayError } from '../contract/errors.ts';
import type { Limited } from '../contract/limits.ts';
import type { Spent } from '../ledger/usage-history.ts';
import type { Account } from '../limits/account.ts';
import type { Counted } from '../limits/meters.ts';
import type { CountedParty } from './counted-party.ts';

const retryAfterSeconds = 5;

/** A replica's share of the limits, at least 1 of each. Budgets are not divided here; `AloneCounts` handles them. */
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
 * The counts of this replica. For a budget, the amount that this replica has spent since the last reply is multiplied
 * by the number of replicas, because each of them may have spent as much.
 */
export class AloneCounts implements Counted {
  readonly requests: Counted['requests'];
  readonly tokens: Counted['tokens'];
  readonly running: number;
  readonly reserved: Counted['reserved'];
  readonly #account: Account;
  readonly #party: CountedParty;
  readonly #replicas: number;

  constructor(account: Account, party: CountedParty, replicas: number) {
    const { likely, most } = account.reserved;
    this.#account = account;
    this.#party = party;
    this.#replicas = replicas;
    this.requests = account.requests;
    this.tokens = account.tokens;
    this.running = account.running;
    this.reserved = { likely, most: { usd: most.usd * replicas, tokens: most.tokens * replicas } };
  }

  spent(per: Budget['per']): ReturnType<Counted['spent']> {
    const own = this.#account.spent(per);
    const seen = this.#party.lastSpent(per, own.period);
    if (!seen) return own;
    const since = (unit: keyof Spent) => Math.max(0, own.spent[unit] - seen.own[unit]) * this.#replicas;
    const { usd, tokens, unpriced } = seen.all;
    const spent = {
      usd: usd + since('usd'),
      tokens: tokens + since('tokens'),
      unpriced: unpriced + since('unpriced'),
    };
    return { period: own.period, spent, isKnown: true };
  }
}

/** A hard budget blocks while the remaining amount is unknown. */
export function countsUnavailable({ scope, name }: Limited): GatewayError {
  return new GatewayError(
    'shared_counts_unavailable',
    `Valkey, where the replicas of Sluice count together, cannot be reached now, so it is not known what is left of the hard budget of ${scope} "${name}". Please try again in a few seconds. To go on without it, set settings.sharedCounts.hardBudgets to "open".`,
    { retryAfterSeconds },
  );
}
