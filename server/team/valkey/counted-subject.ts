/**
 * A key or group with limits in the form that the scripts use: the Valkey keys that count it, and its limits as
 * arguments.
 */

import { localCalendar, type Period } from '../../contract/calendar.ts';
import type { Budget } from '../../contract/limit-settings.ts';
import type { Limited } from '../../contract/limits.ts';
import type { Account } from '../../limits/account.ts';
import { type LimitSubject, LimitSubjectMap } from '../../limits/limiter.ts';
import type { Spent } from '../../store/sqlite/usage-history.ts';
import type { ReplyCounts } from './reply-counts.ts';
import type { SubjectCall } from './subject-call.ts';

interface LastSpent {
  period: Period;
  /** Spent by all replicas. */
  all: Spent;
  /** By requests that ended at this one. */
  own: Spent;
}

export class CountedSubject {
  readonly limited: Limited;
  /** Leases, as the scripts write them, by request (or job) running here. */
  readonly leases: Map<string, string>;
  /** This replica has served a request of it. */
  /** Jobs hold a reservation since before the subject was served, which Valkey has not been told. */
  hasUnsentLeases = false;
  isUsed: boolean;
  /** When its meters were last queried, on the monotonic clock. */
  shownAtMs = Number.NEGATIVE_INFINITY;
  /** Whether a limit can refuse a request; soft budgets cannot. */
  readonly canRefuse: boolean;
  /** Whether a limit can refuse a request that costs nothing. */
  readonly canRefuseFree: boolean;
  readonly hasHardBudget: boolean;
  #lastReply: ReplyCounts | null = null;
  readonly #lastSpent = new Map<Budget['per'], LastSpent>();
  readonly #prefix: string;
  #call: (SubjectCall & { fromMs: number; untilMs: number }) | null = null;

  /** `previous`: the object it replaces, because its limits have changed. */
  constructor(limited: Limited, previous?: CountedSubject) {
    const { requestsPerMinute, tokensPerMinute, concurrent, budgets } = limited.limits;
    this.limited = limited;
    this.canRefuseFree = requestsPerMinute !== undefined || tokensPerMinute !== undefined || concurrent !== undefined;
    this.hasHardBudget = budgets.some(({ hard }) => hard);
    this.canRefuse = this.canRefuseFree || this.hasHardBudget;
    const { scope, id, sinceMs } = limited;
    // The braces place all of them in one hash slot of a cluster: a request counts for a key, its owner and its group.
    this.#prefix = `sluice:{limits}:${scope}:${id}@${sinceMs.toString(36)}:`;
    this.leases = previous !== undefined && previous.#prefix === this.#prefix ? previous.leases : new Map();
    this.isUsed = previous?.isUsed ?? false;
  }

  isOf({ limits, sinceMs }: Limited): boolean {
    return this.limited.limits === limits && this.limited.sinceMs === sinceMs;
  }

  /** The latest reply; null if there is none yet. */
  get lastReply(): ReplyCounts | null {
    return this.#lastReply;
  }

  /**
   * Applies a reply. `account`: what this replica alone has counted. Returns whether the count of a period has begun or
   * restarted.
   */
  applyReply(reply: ReplyCounts, account: Pick<Account, 'own'>): boolean {
    this.#lastReply = reply;
    let hasBegun = false;
    for (const period of this.#call?.periods ?? []) {
      const begunMs = reply.begunMs(period.key) ?? period.begunMs;
      hasBegun ||= begunMs !== period.begunMs;
      period.begunMs = begunMs;
    }
    for (const { per } of this.limited.limits.budgets) {
      const { period, spent, isKnown } = reply.spent(per);
      if (isKnown) this.#lastSpent.set(per, { period, all: spent, own: account.own(per) });
    }
    return hasBegun;
  }

  /** What was spent at the last reply, if it was in the given period. */
  lastSpent(per: Budget['per'], period: Period): LastSpent | null {
    const last = this.#lastSpent.get(per);
    return last?.period.startMs === period.startMs ? last : null;
  }

  get hasLeases(): boolean {
    return this.limited.limits.concurrent !== undefined || this.hasBudgets;
  }

  get hasBudgets(): boolean {
    return this.limited.limits.budgets.length > 0;
  }

  /** `leases`, `amounts` and `lapsed`. */
  get leaseKeys(): readonly string[] {
    return ['leases', 'amounts', 'lapsed'].map((name) => this.#prefix + name);
  }

  /** `lapsed` and `settled`. */
  get endedKeys(): readonly string[] {
    return ['lapsed', 'settled'].map((name) => this.#prefix + name);
  }

  /** `atMs`: Unix milliseconds by Valkey's clock. */
  at(atMs: number): SubjectCall {
    let call = this.#call;
    if (!call || atMs < call.fromMs || atMs >= call.untilMs) {
      call = this.#prepare(atMs);
      this.#call = call;
    }
    return call;
  }

  #prepare(atMs: number) {
    const { requestsPerMinute, tokensPerMinute, concurrent, budgets } = this.limited.limits;
    const least = (per: Budget['per'], unit: Budget['unit']) => {
      const hard = budgets.filter((budget) => budget.hard && budget.per === per && budget.unit === unit);
      return hard.length === 0 ? undefined : Math.min(...hard.map(({ amount }) => amount));
    };
    const periods = [...new Set(budgets.map(({ per }) => per))].map((per) => {
      const { startMs, endMs } = localCalendar().periodOf(per, atMs);
      const key = this.#prefix + (Number.isFinite(startMs) ? `${per}:${startMs}` : per);
      const args = [endOf(endMs), textOf(least(per, 'usd')), textOf(least(per, 'tokens'))];
      return { per, startMs, endMs, key, args, begunMs: 0 };
    });
    return {
      keys: [
        ...['requests', 'tokens', 'leases', 'amounts', 'lapsed', 'settled'].map((name) => this.#prefix + name),
        ...periods.map(({ key }) => key),
      ],
      args: [
        textOf(requestsPerMinute),
        textOf(tokensPerMinute),
        textOf(concurrent),
        this.hasLeases ? '1' : '0',
        String(periods.length),
      ],
      periods,
      fromMs: Math.max(...periods.map(({ startMs }) => startMs), Number.NEGATIVE_INFINITY),
      untilMs: Math.min(...periods.map(({ endMs }) => endMs), Number.POSITIVE_INFINITY),
    };
  }
}

/** As a script argument; empty if the period has no end. */
export function endOf(endMs: number): string {
  return Number.isFinite(endMs) ? String(endMs) : '';
}

function textOf(amount: number | undefined): string {
  return amount === undefined ? '' : String(amount);
}

/** Keys and groups with limits that this replica has served, and the reservations of jobs. */
export class SubjectRegistry {
  readonly #subjects = new LimitSubjectMap<CountedSubject>();
  /** Leases by subject and job; the subject need not exist yet. */
  readonly #jobLeases = new LimitSubjectMap<Map<string, string>>();

  /** Created on first use, and recreated when its limits have changed. */
  of(limited: Limited): CountedSubject {
    const existing = this.#subjects.get(limited);
    if (existing?.isOf(limited)) return existing;
    const subject = new CountedSubject(limited, existing);
    for (const [job, lease] of this.#jobLeases.get(limited) ?? []) {
      subject.leases.set(job, lease);
      subject.hasUnsentLeases = true;
    }
    this.#subjects.set(limited, subject);
    return subject;
  }

  /** Undefined if this replica has not served it. */
  get(limitSubject: LimitSubject): CountedSubject | undefined {
    return this.#subjects.get(limitSubject);
  }

  /** The subjects for which jobs hold a reservation. */
  *holding(): IterableIterator<CountedSubject> {
    for (const limitSubject of this.#jobLeases.subjects()) {
      const subject = this.#subjects.get(limitSubject);
      if (subject) yield subject;
    }
  }

  all(): IterableIterator<CountedSubject> {
    return this.#subjects.values();
  }

  remove(limitSubject: LimitSubject): CountedSubject | undefined {
    const subject = this.#subjects.get(limitSubject);
    this.#subjects.delete(limitSubject);
    return subject;
  }

  /** Returns the subject if it is known. */
  hold(limitSubject: LimitSubject, job: string, lease: string): CountedSubject | undefined {
    const leases = this.#jobLeases.get(limitSubject) ?? new Map<string, string>();
    this.#jobLeases.set(limitSubject, leases.set(job, lease));
    const subject = this.#subjects.get(limitSubject);
    subject?.leases.set(job, lease);
    return subject;
  }

  release(limitSubject: LimitSubject, job: string): CountedSubject | undefined {
    const leases = this.#jobLeases.get(limitSubject);
    leases?.delete(job);
    if (leases?.size === 0) this.#jobLeases.delete(limitSubject);
    const subject = this.#subjects.get(limitSubject);
    subject?.leases.delete(job);
    return subject;
  }
}
