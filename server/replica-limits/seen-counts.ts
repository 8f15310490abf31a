/** The counts of a party according to Valkey's latest reply, in the form in which limits are evaluated. */
import type { Budget } from '../contract/config.ts';
import type { Spent } from '../ledger/usage-history.ts';
import type { Estimate } from '../limits/account.ts';
import type { Counted, Window } from '../limits/meters.ts';
import type { Period } from '../limits/period.ts';
import { nothing } from '../limits/spending.ts';
import type { PartyCall } from './party-call.ts';

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
export interface SeenAt {
  serverMs: number;
  steadyMs: number;
}

class SeenWindow implements Window {
  readonly #at: SeenAt;
  readonly #sum: number;
  readonly #last: number;
  /** Number and amount of each slot, oldest first. Only present for a refused request. */
  #slots: readonly (readonly [number, number])[] = [];

  constructor(at: SeenAt, sum: number, last: number) {
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
    let rest = this.#sum;
    for (const [slot, amount] of this.#slots) {
      rest -= amount;
      if (rest < limit) return this.#leavesInMs(slot, steadyMs);
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

interface SeenPeriod extends Period {
  spent: Spent;
  /** When the count for this replica's ledger began, by Valkey's clock; 0 if the amount spent is unknown. */
  begunMs: number;
}

export class SeenCounts implements Counted {
  readonly requests: SeenWindow;
  readonly tokens: SeenWindow;
  readonly running: number;
  readonly reserved: Estimate;
  readonly at: SeenAt;
  /** When the count of a period began, by the period's key; 0 if the amount spent is unknown. */
  readonly begun = new Map<string, number>();
  readonly #periods = new Map<Budget['per'], SeenPeriod>();

  /**
   * `likely` is what the running requests of this process will probably use. Valkey only knows the most that they may
   * use.
   */
  constructor(numbers: ReplyNumbers, at: SeenAt, { call, likely }: { call: PartyCall; likely: Estimate['likely'] }) {
    this.at = at;
    this.requests = new SeenWindow(at, numbers.next(), numbers.next());
    this.tokens = new SeenWindow(at, numbers.next(), numbers.next());
    this.running = numbers.next();
    this.reserved = { likely, most: { usd: numbers.next(), tokens: numbers.next() } };
    for (const { per, key, startMs, endMs } of call.periods) {
      const spent = { usd: numbers.next(), tokens: numbers.next(), unpriced: numbers.next() };
      const begunMs = numbers.next();
      this.#periods.set(per, { startMs, endMs, spent, begunMs });
      this.begun.set(key, begunMs);
    }
  }

  /** Whether the amount spent in one of the periods is unknown. */
  get isUnknown(): boolean {
    for (const begunMs of this.begun.values()) if (begunMs === 0) return true;
    return false;
  }

  readSlots(numbers: ReplyNumbers): void {
    this.requests.readSlots(numbers);
    this.tokens.readSlots(numbers);
  }

  spent(per: Budget['per']): { period: Period; spent: Spent; isKnown: boolean } {
    const seen = this.#periods.get(per);
    if (!seen) throw new Error(`unreachable: there is no budget per ${per}`);
    // The next period has begun since the reply.
    if (this.at.serverMs >= seen.endMs) return { period: seen, spent: nothing, isKnown: false };
    return { period: seen, spent: seen.spent, isKnown: seen.begunMs > 0 };
  }
}
