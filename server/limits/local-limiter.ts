/**
 * The limiter of a single process. Counts are in memory. After a start they are loaded from the ledger and the budgets'
 * file, when a key or group is first used or `recall`ed.
 */
import { setImmediate } from 'node:timers/promises';
import { inNanodollars, isCountedForRate, isUnpriced } from '../contract/count.ts';
import type { RequestRecord } from '../contract/ledger.ts';
import type { Budget } from '../contract/limit-settings.ts';
import {
  type Limited,
  type LimitMeter,
  type LimitReached,
  type LimitScope,
  noticePercents,
} from '../contract/limits.ts';
import type { BudgetSums } from '../store/sqlite/budget-sums.ts';
import type { Amounts, UsageHistory } from '../store/sqlite/usage-history.ts';
import { Account, type Clocks, type Estimate, noCharge, type Reservation, type Settled } from './account.ts';
import { type JobOwner, type Limiter, type LimitSubject, LimitSubjectMap, type RateHeaders } from './limiter.ts';
import { findExceeded, metersOf, rateMeters } from './meters.ts';
import { rateHeaders, refusal, refuseIfSpent, unknownSpending } from './refusal.ts';

export type LimiterSums = Pick<BudgetSums, 'find' | 'keep' | 'forget'>;

export interface LocalLimiterPorts {
  history: UsageHistory<LimitScope>;
  /** The person who owns the key; null: nobody. */
  ownerOf(keyId: string): string | null;
  sums: LimiterSums;
  clocks: Clocks;
  /** Called when a budget reaches a level; null if such notices are sent elsewhere. */
  reached: ((notice: LimitReached) => void) | null;
  log: { warn(fields: object, message: string): void };
}

interface Watched {
  account: Account;
  /** Null if the notices are sent elsewhere. */
  budgets: BudgetWatch | null;
}

interface Admitted {
  reservation: Reservation;
  /** The key and group whose limits apply. */
  subjects: readonly (Watched & { limited: Limited })[];
}

export class LocalLimiter implements Limiter {
  readonly #ports: LocalLimiterPorts;
  readonly #accounts = new LimitSubjectMap<Watched>();
  readonly #admitted = new Map<string, Admitted>();
  /** By account and job; an account need not exist yet. */
  readonly #jobReservations = new LimitSubjectMap<Map<string, Amounts>>();
  /** By job. The key of a job may have no owner any more when it ends. */
  readonly #payers = new Map<string, readonly LimitSubject[]>();

  constructor(ports: LocalLimiterPorts) {
    this.#ports = ports;
  }

  admit(requestId: string, limitedBy: readonly Limited[], estimate: Estimate): RateHeaders {
    const { clocks } = this.#ports;
    const subjects = this.#subjectsOf(limitedBy);
    for (const { limited, account } of subjects) {
      if (estimate !== noCharge) checkSpendingKnown(limited, account);
      const exceeded = findExceeded(account, limited.limits, {
        clocks,
        isFree: estimate === noCharge,
        isPart: estimate.isPart === true,
      });
      if (exceeded) throw refusal(limited, exceeded, { headers: this.#headers(limitedBy), nowMs: clocks.wallMs() });
    }
    this.#reserve(requestId, subjects, estimate);
    return this.#headers(limitedBy);
  }

  admitAtOnce(requestId: string, limitedBy: readonly Limited[], estimate: Estimate): RateHeaders {
    return this.admit(requestId, limitedBy, estimate);
  }

  checkBudgets(limitedBy: readonly Limited[]): void {
    const { clocks } = this.#ports;
    const subjects = limitedBy.map((limited) => ({ limited, counted: this.account(limited) }));
    for (const { limited, counted } of subjects) checkSpendingKnown(limited, counted);
    refuseIfSpent(subjects, clocks);
  }

  /** Counts a request whatever the limits are. It must be `finished`. */
  take(requestId: string, limitedBy: readonly Limited[], estimate: Estimate): void {
    this.#reserve(requestId, this.#subjectsOf(limitedBy), estimate);
  }

  #reserve(requestId: string, subjects: Admitted['subjects'], estimate: Estimate): void {
    const reservation = { atMs: this.#ports.clocks.steadyMs(), estimate };
    for (const { limited, account, budgets } of subjects) {
      budgets?.begin(limited);
      account.reserve(reservation);
    }
    this.#admitted.set(requestId, { reservation, subjects });
  }

  finished(record: RequestRecord): void {
    if (this.#accounts.isEmpty) return;
    const settled = settledBy(record);
    const { reservation, subjects } = this.#admitted.get(record.id) ?? { reservation: null, subjects: [] };
    this.#admitted.delete(record.id);
    const countedAccounts = new Set<Account>();
    for (const { limited, account, budgets } of subjects) {
      if (reservation) account.settle(reservation, settled);
      budgets?.report(limited, settled.used);
      countedAccounts.add(account);
    }
    // The request may have begun before its key or group had limits.
    for (const subject of this.payersOf({ keyId: record.keyId, groupId: record.groupId ?? '' })) {
      const account = this.#accounts.get(subject)?.account;
      if (account && !countedAccounts.has(account)) account.count(record.startedAt, settled.used);
    }
  }

  /** Returns who pays. */
  hold(job: string, owner: JobOwner, most: Amounts): readonly LimitSubject[] {
    const payers = this.#payers.get(job) ?? this.payersOf(owner);
    this.#payers.set(job, payers);
    for (const subject of payers) {
      const reservations = this.#jobReservations.get(subject) ?? new Map<string, Amounts>();
      this.#jobReservations.set(subject, reservations.set(job, most));
    }
    return payers;
  }

  /** Returns who paid. */
  release(job: string, owner: JobOwner): readonly LimitSubject[] {
    const payers = this.#payers.get(job) ?? this.payersOf(owner);
    this.#payers.delete(job);
    for (const subject of payers) {
      const reservations = this.#jobReservations.get(subject);
      reservations?.delete(job);
      if (reservations?.size === 0) this.#jobReservations.delete(subject);
    }
    return payers;
  }

  /** The key, its owner and the group. */
  payersOf({ keyId, groupId }: JobOwner): LimitSubject[] {
    const group: LimitSubject = { scope: 'group', id: groupId };
    if (keyId === null) return [group];
    const ownerId = this.#ports.ownerOf(keyId);
    const key: LimitSubject = { scope: 'key', id: keyId };
    return ownerId === null ? [key, group] : [key, { scope: 'person', id: ownerId }, group];
  }

  meters(limited: Limited): LimitMeter[] {
    return metersOf(this.account(limited), limited, this.#ports.clocks);
  }

  refresh(): void {}

  async preloadSpent(limitedBy: Iterable<Limited>): Promise<void> {
    const loading: Promise<void>[] = [];
    for (const limited of limitedBy) {
      const account = this.account(limited);
      for (const { per } of limited.limits.budgets) {
        account.spent(per);
        const promise = account.loading(per);
        if (promise) loading.push(promise);
      }
      await setImmediate();
    }
    await Promise.all(loading);
  }

  forget(scope: LimitScope, id: string): void {
    const { sums, history, log } = this.#ports;
    this.#accounts.delete({ scope, id });
    const failed = (error: unknown) => log.warn({ [scope]: id, error }, 'stored usage cannot be deleted');
    for (const forget of [sums.forget, history.forgetTotal]) {
      try {
        const deletion = forget(scope, id);
        if (deletion instanceof Promise) deletion.catch(failed);
      } catch (error) {
        failed(error);
      }
    }
  }

  #subjectsOf(limitedBy: readonly Limited[]): Admitted['subjects'] {
    return limitedBy.map((limited) => ({ limited, ...this.#watched(limited) }));
  }

  #headers(subjects: readonly Limited[]): RateHeaders {
    return rateHeaders(
      subjects.flatMap((limited) => rateMeters(this.account(limited), limited.limits, this.#ports.clocks)),
      this.#ports.clocks.wallMs(),
    );
  }

  account(limited: Limited): Account {
    return this.#watched(limited).account;
  }

  /** Created on first use. */
  #watched(limited: Limited): Watched {
    let watched = this.#accounts.get(limited);
    if (!watched) {
      const { clocks, history, sums, log, reached } = this.#ports;
      const { scope, id, sinceMs } = limited;
      const failed = (error: unknown) => log.warn({ [scope]: id, error }, 'usage cannot be read; retrying');
      const jobReservations = () => this.#jobReservations.get(limited);
      const account = new Account({ scope, id, sinceMs, clocks, history, sums, failed, jobReservations });
      watched = { account, budgets: reached && new BudgetWatch(account, reached) };
      this.#accounts.set(limited, watched);
    }
    return watched;
  }
}

/** An unknown cost counts as 0 and as an unpriced request. */
export function settledBy(record: RequestRecord): Settled {
  const { startedAt, usage, costUsd } = record;
  const tokens = (usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0);
  return {
    startedAt,
    used: { usd: inNanodollars(costUsd ?? 0), tokens, unpriced: isUnpriced(record) ? 1 : 0 },
    isVoid: !isCountedForRate(record),
  };
}

function checkSpendingKnown(limited: Limited, account: Account): void {
  const unknown = limited.limits.budgets.some(({ hard, per }) => hard && !account.spent(per).isKnown);
  if (unknown) throw unknownSpending(limited);
}

/** A budget of an account in one period. */
interface WatchedBudget {
  budget: Budget;
  /** The start of the period. */
  startMs: number;
  /** The level reported last; null until it is known what was spent before. */
  percent: number | null;
  /** The usage of requests that ended before that was known. */
  early: number;
}

/**
 * Reports when a budget of an account reaches the percentages that it names, once in each period, but not one reached
 * before the start.
 */
class BudgetWatch {
  readonly #account: Account;
  readonly #onReached: (notice: LimitReached) => void;
  readonly #watched: WatchedBudget[] = [];

  constructor(account: Account, onReached: (notice: LimitReached) => void) {
    this.#account = account;
    this.#onReached = onReached;
  }

  /** Must be called before a request is counted. */
  begin({ limits }: Limited): void {
    for (const budget of announcedBudgets(limits)) this.#measure(budget);
  }

  /** Reports the budgets that a counted request has brought to an amount, by what it has added. */
  report(limited: Limited, added: Amounts): void {
    for (const budget of announcedBudgets(limited.limits)) {
      if (!this.#report(limited, budget, added[budget.unit]))
        void this.#account.loading(budget.per)?.then(() => this.#report(limited, budget, 0));
    }
  }

  /** False if the amount spent is not known yet. */
  #report(limited: Limited, budget: Budget, added: number): boolean {
    const { watched, percent, used, resetsAt } = this.#measure(budget, added);
    if (watched.percent === null) return false;
    if (percent === 0 || percent <= watched.percent) return true;
    watched.percent = percent;
    const { scope, id, name } = limited;
    this.#onReached({ scope, id, name, budget, percent, used, resetsAt });
    return true;
  }

  /** `added`: the usage of a request that has ended, which the amount spent includes. */
  #measure(budget: Budget, added = 0) {
    const { period, spent, isKnown } = this.#account.spent(budget.per);
    const used = spent[budget.unit];
    const watched = this.#watchedOf(budget, period.startMs);
    if (watched.percent === null) {
      watched.early += added;
      // A level reached before the start is not reported.
      if (isKnown) watched.percent = percentOf(budget, used - watched.early);
    }
    const resetsAt = Number.isFinite(period.endMs) ? period.endMs : null;
    return { watched, percent: percentOf(budget, used), used, resetsAt };
  }

  #watchedOf(budget: Budget, startMs: number): WatchedBudget {
    const index = this.#watched.findIndex((each) => isSame(each.budget, budget));
    const previous = this.#watched[index];
    if (previous?.startMs === startMs) return previous;
    const watched: WatchedBudget = { budget, startMs, percent: null, early: 0 };
    this.#watched.splice(previous ? index : this.#watched.length, 1, watched);
    return watched;
  }
}

/** The budgets of which notices are sent: of those that differ only in what happens then, one. */
export function announcedBudgets({ budgets }: Limited['limits']): Budget[] {
  return budgets
    .filter((budget, index) => budgets.findIndex((each) => isSame(each, budget)) === index)
    .map((budget) => {
      const all = budgets.filter((each) => isSame(each, budget));
      return all.length === 1 ? budget : { ...budget, notifyAt: all.flatMap(noticePercents) };
    });
}

function isSame(one: Budget, other: Budget): boolean {
  return one.per === other.per && one.unit === other.unit && one.amount === other.amount;
}

const roundingShare = 1e-9;

/** The highest percentage to be reported that the amount used has reached; 0 if none. */
export function percentOf(budget: Budget, used: number): number {
  // An amount that was added and taken off again may miss a level by its last digits.
  const share = used / budget.amount + roundingShare;
  return noticePercents(budget).findLast((percent) => share >= percent / 100) ?? 0;
}
