/**
 * Admits requests of keys and groups that have limits, and counts what they use. A request is admitted in one step that
 * nothing else comes between: every limit of key and group is looked at, and only if none is reached does it take its
 * place, its request and an estimate of its tokens and cost. When it has ended, what it really used stands in for that.
 *
 * Counts live here; after a start they are taken from the ledger and from the sums kept beside it, of each key and group
 * when it is first asked for, or `recall`ed. Must not know what a request asks for or how it is sent.
 */
import { setImmediate } from 'node:timers/promises';
import type { RequestRecord } from '../contract/ledger.ts';
import type { Limited, LimitMeter, LimitReached, LimitScope } from '../contract/limits.ts';
import type { BudgetSums } from '../ledger/budget-sums.ts';
import { isUnpriced } from '../ledger/usage-cells.ts';
import type { Amounts, UsageHistory } from '../ledger/usage-history.ts';
import { Account, type Clocks, type Estimate, free, type Reservation, type Settled } from './account.ts';
import { BudgetWatch } from './budget-watch.ts';
import { findExceeded, metersOf, rateMeters } from './meters.ts';
import { rateHeaders } from './rate-headers.ts';
import { refusal, unknownSpending } from './refusal.ts';

export interface Limiter {
  /**
   * Admits a request or throws a GatewayError that says what stands in its way; then nothing was counted. Returns the
   * headers that tell how much is left, none if no limit is by the minute. What is admitted must be `finished`. The
   * estimate of a request that costs nothing is `free` itself: budgets let it pass.
   */
  admit(requestId: string, parties: readonly Limited[], estimate: Estimate): Record<string, string>;
  /**
   * What a job may still cost stays reserved of its key's and group's hard budgets after its request has ended, until it
   * is `released`. Before `finished` of that request, so that it is never free in between.
   */
  hold(job: string, owner: JobOwner, most: Amounts): void;
  release(job: string, owner: JobOwner): void;
  /** To be told of every request, once the ledger has it. */
  finished(record: RequestRecord): void;
  meters(limited: Limited): LimitMeter[];
  /** Looks up what these have spent, one after the other, so that it is kept beside the ledger from now on. */
  recall(limitedBy: Iterable<Limited>): Promise<void>;
  /** That key is gone: its id may come to mean another. */
  forget(scope: LimitScope, id: string): void;
}

/** Who pays for a job. */
export interface JobOwner {
  keyId: string | null;
  groupId: string;
}
export type LimiterSums = Pick<BudgetSums, 'find' | 'keep' | 'forget'>;

interface LimiterPorts {
  history: UsageHistory;
  sums: LimiterSums;
  clocks: Clocks;
  reached(notice: LimitReached): void;
  log: { warn(fields: object, message: string): void };
}

interface Admitted {
  reservation: Reservation;
  /** Whose limits it was held against. */
  parties: readonly { limited: Limited; account: Account }[];
}

export function createLimiter(ports: LimiterPorts): Limiter {
  return new CountingLimiter(ports);
}

class CountingLimiter implements Limiter {
  readonly #ports: LimiterPorts;
  readonly #budgets: BudgetWatch;
  readonly #accounts = new Map<string, Account>();
  readonly #admitted = new Map<string, Admitted>();
  /** By account, then by job: also of those who have no account yet. */
  readonly #held = new Map<string, Map<string, Amounts>>();

  constructor(ports: LimiterPorts) {
    this.#ports = ports;
    this.#budgets = new BudgetWatch(ports.reached);
  }

  admit(requestId: string, limitedBy: readonly Limited[], estimate: Estimate): Record<string, string> {
    const { clocks } = this.#ports;
    const parties = limitedBy.map((limited) => ({ limited, account: this.#accountOf(limited) }));
    for (const { limited, account } of parties) {
      const unknown = limited.limits.budgets.find(({ hard, per }) => hard && !account.spent(per).isKnown);
      if (unknown && estimate !== free) throw unknownSpending(limited);
      const exceeded = findExceeded(account, limited.limits, { clocks, isFree: estimate === free });
      if (exceeded) throw refusal(limited, exceeded, { headers: this.#headers(limitedBy), nowMs: clocks.wallMs() });
    }
    const reservation = { atMs: clocks.steadyMs(), estimate };
    for (const { limited, account } of parties) {
      this.#budgets.begin(limited, account);
      account.reserve(reservation);
    }
    this.#admitted.set(requestId, { reservation, parties });
    return this.#headers(limitedBy);
  }

  finished(record: RequestRecord): void {
    if (this.#accounts.size === 0) return;
    const settled = settledBy(record);
    const { reservation, parties } = this.#admitted.get(record.id) ?? { reservation: null, parties: [] };
    this.#admitted.delete(record.id);
    const counted = new Set<Account>();
    for (const { limited, account } of parties) {
      if (reservation) account.settle(reservation, settled);
      this.#budgets.tell(limited, account);
      counted.add(account);
    }
    // One that began before its key or group had limits.
    for (const name of [nameOf('key', record.keyId ?? ''), nameOf('group', record.groupId ?? '')]) {
      const account = this.#accounts.get(name);
      if (account && !counted.has(account)) account.count(record.startedAt, settled.used);
    }
  }

  hold(job: string, owner: JobOwner, most: Amounts): void {
    for (const name of accountsOf(owner)) {
      const held = this.#held.get(name) ?? new Map<string, Amounts>();
      this.#held.set(name, held.set(job, most));
    }
  }

  release(job: string, owner: JobOwner): void {
    for (const name of accountsOf(owner)) {
      const held = this.#held.get(name);
      held?.delete(job);
      if (held?.size === 0) this.#held.delete(name);
    }
  }

  meters(limited: Limited): LimitMeter[] {
    return metersOf(this.#accountOf(limited), limited.limits, this.#ports.clocks);
  }

  async recall(limitedBy: Iterable<Limited>): Promise<void> {
    for (const limited of limitedBy) {
      const account = this.#accountOf(limited);
      for (const { per } of limited.limits.budgets) account.spent(per);
      await setImmediate();
    }
  }

  forget(scope: LimitScope, id: string): void {
    const { sums, history, log } = this.#ports;
    this.#accounts.delete(nameOf(scope, id));
    for (const forget of [sums.forget, history.forgetTotal]) {
      try {
        forget(scope, id);
      } catch (error) {
        log.warn({ [scope]: id, error }, 'what was used cannot be forgotten');
      }
    }
  }

  #headers(parties: readonly Limited[]): Record<string, string> {
    return rateHeaders(
      parties.flatMap((limited) => rateMeters(this.#accountOf(limited), limited.limits, this.#ports.clocks)),
      this.#ports.clocks.wallMs(),
    );
  }

  #accountOf({ scope, id, sinceMs }: Limited): Account {
    const name = nameOf(scope, id);
    let account = this.#accounts.get(name);
    if (!account) {
      const { clocks, history, sums, log } = this.#ports;
      const failed = (error: unknown) =>
        log.warn({ [scope]: id, error }, 'what was used cannot be read; it is tried again');
      const held = () => this.#held.get(name);
      account = new Account({ scope, id, sinceMs, clocks, history, sums, failed, held });
      this.#accounts.set(name, account);
    }
    return account;
  }
}

function accountsOf({ keyId, groupId }: JobOwner): string[] {
  return [...(keyId === null ? [] : [nameOf('key', keyId)]), nameOf('group', groupId)];
}

function nameOf(scope: LimitScope, id: string): string {
  return `${scope} ${id}`;
}

/** A cost that nobody knows counts as none, and is told. */
function settledBy(record: RequestRecord): Settled {
  const { startedAt, usage, costUsd, attempts } = record;
  const tokens = (usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0);
  return {
    startedAt,
    used: { usd: costUsd ?? 0, tokens, unpriced: isUnpriced(record) ? 1 : 0 },
    isVoid: attempts.every(({ connectMs, status }) => connectMs === null && status === null),
  };
}
