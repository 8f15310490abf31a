/** The counts of a subject in Valkey's latest reply, in the form in which limits are evaluated. */

import type { Period } from '../../contract/calendar.ts';
import type { Budget } from '../../contract/limit-settings.ts';
import { type Estimate, noSpending } from '../../limits/account.ts';
import type { Counted, Window } from '../../limits/meters.ts';
import type { Spent } from '../../store/sqlite/usage-history.ts';
import type { BudgetPeriod, SubjectCall } from './subject-call.ts';

const slotMs = 1_000;
/** A slot counts until it is entirely older than a minute. */
const keptSlots = 61;

/** Reads the numbers of a reply one by one. */
export class ReplyNumbers {
  readonly #numbers: readonly string[];
  #at = 0;

  constructor(reply: string) {
    this.#numbers = reply.split(' ');
  }

  next(): number {
    return Number(this.#numbers[this.#at++]);
  }
}

/** When a reply was made: Unix milliseconds by Valkey's clock, and the monotonic clock of this process. */
export interface ReplyTime {
  serverMs: number;
  steadyMs: number;
}

class ReplyWindow implements Window {
  readonly #at: ReplyTime;
  readonly #sum: number;
  readonly #last: number;
  /** Number and amount of each slot, oldest first. Only present for a refused request. */
  #slots: readonly (readonly [number, number])[] = [];

  constructor(at: ReplyTime, sum: number, last: number) {
    this.#at = at;
    this.#sum = sum;
    this.#last = last;
  }

  readSlots(numbers: ReplyNumbers): void {
    const slots = Array.from({ length: numbers.next() }, () => [numbers.next(), numbers.next()] as const);
    this.#slots = slots.sort(([one], [other]) => one - other);
  }

  sum(steadyMs: number): number {
    return this.emptyInMs(steadyMs) > 0 ? this.#sum : 0;
  }

  waitMs(limit: number, steadyMs: number): number {
    let remaining = this.#sum;
    for (const [slot, amount] of this.#slots) {
      remaining -= amount;
      if (remaining < limit) return this.#leavesInMs(slot, steadyMs);
    }
    return this.emptyInMs(steadyMs);
  }

  emptyInMs(steadyMs: number): number {
    return this.#sum <= 0 ? 0 : this.#leavesInMs(this.#last, steadyMs);
  }

  #leavesInMs(slot: number, steadyMs: number): number {
    const serverMs = this.#at.serverMs + steadyMs - this.#at.steadyMs;
    return Math.max(0, (slot + keptSlots) * slotMs - serverMs);
  }
}

interface SeenPeriod {
  period: BudgetPeriod;
  spent: Spent;
  /** When the count for this replica's ledger began, by Valkey's clock; 0 if the amount spent is unknown. */
  begunMs: number;
}

export class ReplyCounts implements Counted {
  readonly requests: ReplyWindow;
  readonly tokens: ReplyWindow;
  readonly running: number;
  readonly reserved: Estimate;
  readonly at: ReplyTime;
  readonly #periods: readonly SeenPeriod[];

  /**
   * `likely` is what the running requests of this process will probably use. Valkey only knows the most that they may
   * use.
   */
  constructor(
    numbers: ReplyNumbers,
    at: ReplyTime,
    { call, likely }: { call: SubjectCall; likely: Estimate['likely'] },
  ) {
    this.at = at;
    this.requests = new ReplyWindow(at, numbers.next(), numbers.next());
    this.tokens = new ReplyWindow(at, numbers.next(), numbers.next());
    this.running = numbers.next();
    this.reserved = { likely, most: { usd: numbers.next(), tokens: numbers.next() } };
    this.#periods = call.periods.map((period) => {
      const spent = { usd: numbers.next(), tokens: numbers.next(), unpriced: numbers.next() };
      return { period, spent, begunMs: numbers.next() };
    });
  }

  /** Whether the amount spent in one of the periods is unknown. */
  get isUnknown(): boolean {
    return this.#periods.some(({ begunMs }) => begunMs === 0);
  }

  /** When the count of the period with this key began; 0: it is unknown what was spent. Undefined: it is another period. */
  begunMs(key: string): number | undefined {
    return this.#periods.find(({ period }) => period.key === key)?.begunMs;
  }

  readSlots(numbers: ReplyNumbers): void {
    this.requests.readSlots(numbers);
    this.tokens.readSlots(numbers);
  }

  spent(per: Budget['per']): { period: Period; spent: Spent; isKnown: boolean } {
    const seenPeriod = this.#periods.find(({ period }) => period.per === per);
    if (!seenPeriod) throw new Error(`unreachable: there is no budget per ${per}`);
    const { period, spent, begunMs } = seenPeriod;
    // The next period has begun since the reply.
    if (this.at.serverMs >= period.endMs) return { period, spent: noSpending, isKnown: false };
    return { period, spent, isKnown: begunMs > 0 };
  }
}
