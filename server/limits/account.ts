/** The usage of a key, or of all keys of a group or person: in the last minute, at present, and in budget periods. */
import { localCalendar, type Period } from '../contract/calendar.ts';
import { inNanodollars } from '../contract/count.ts';
import type { Budget } from '../contract/limit-settings.ts';
import type { LimitScope } from '../contract/limits.ts';
import { minuteMs } from '../contract/units.ts';
import type { MaybePromise } from '../ground/promises.ts';
import type { BudgetSum, BudgetSums } from '../store/sqlite/budget-sums.ts';
import type { Amounts, PastRequest, Spent, UsageHistory } from '../store/sqlite/usage-history.ts';

export const noSpending: Spent = { usd: 0, tokens: 0, unpriced: 0 };

interface SpendingPorts {
  /** The ledger's total. Throws or rejects if it cannot be read now. */
  load(period: Period): MaybePromise<Spent>;
  /** The stored total; null: none. Throws if it cannot be read now. */
  readStoredTotal(): BudgetSum | null;
  keep(sum: BudgetSum): void;
  failed(error: unknown): void;
}

/** Interval of retries while a file cannot be read, and of reads of a ledger that other replicas write as well. */
const retryMs = 5_000;

/**
 * The amount spent in the current period of one kind. It is loaded from the ledger at the start of each period, updated
 * in memory, and stored in the budgets' file with each change. After a start the larger of the two counts, so that
 * losing either file does not reset a budget.
 *
 * If the clock is set back into an earlier period, the amount counted so far is added to what the ledger has for that
 * period, so that this does not reset a budget. Once the clock is right again, the ledger's totals are used.
 *
 * A ledger that answers asynchronously is shared with other replicas, so it is read again every few seconds.
 */
class Spending {
  readonly #per: Budget['per'];
  readonly #ports: SpendingPorts;
  #period: Period;
  #spent = noSpending;
  /** The part of it that requests used which ended here. */
  #own = noSpending;
  /** At least one of ledger and stored total was read, so `#spent` is complete. */
  #isKnown = false;
  #isLoaded = false;
  /** Unix milliseconds of a failed read, or of one that has to be repeated; null once both were read. */
  #askAgainAt: number | null = null;
  /** The present problem has been reported; it is reported only once. */
  #hasReported = false;
  #loading: Promise<void> | null = null;

  constructor(per: Budget['per'], ports: SpendingPorts, nowMs: number) {
    this.#per = per;
    this.#ports = ports;
    this.#period = localCalendar().periodOf(per, nowMs);
    this.#ask(nowMs);
  }

  /** Resolves once a pending read of the ledger has ended; null if none is pending. Does not reject. */
  get loading(): Promise<void> | null {
    return this.#loading;
  }

  /** The period of `nowMs` and the amount spent; `isKnown` false: it may be more. */
  at(nowMs: number): { period: Period; spent: Spent; isKnown: boolean } {
    if (this.#askAgainAt !== null && Math.abs(nowMs - this.#askAgainAt) >= retryMs) this.#ask(nowMs);
    else this.#follow(nowMs);
    return { period: this.#period, spent: this.#spent, isKnown: this.#isKnown };
  }

  /** Counts a request in the period in which it began, as the ledger does. */
  add(startedAt: number, used: Spent): void {
    if (startedAt < this.#period.startMs || startedAt >= this.#period.endMs) return;
    this.#spent = plus(this.#spent, used);
    this.#own = plus(this.#own, used);
    this.#keep();
  }

  /** What requests that ended here have used in the period of `nowMs`, for which the ledger is not asked again. */
  own(nowMs: number): Spent {
    this.#follow(nowMs);
    return this.#own;
  }

  /** At start, and again if not both could be read. */
  #ask(nowMs: number): void {
    this.#askAgainAt = null;
    if (!this.#isLoaded) this.#loadStoredTotal(nowMs);
    const isSame = this.#period.startMs <= nowMs && nowMs < this.#period.endMs;
    if (isSame) this.#spent = largest(this.#spent, this.#load(nowMs));
    else this.#follow(nowMs);
    if (this.#askAgainAt === null) this.#hasReported = false;
    this.#keep();
  }

  #loadStoredTotal(nowMs: number): void {
    const stored = this.#tryRead(() => this.#ports.readStoredTotal(), nowMs);
    if (stored === undefined) return;
    this.#isLoaded = true;
    if (stored === null) return;
    // A later period would have replaced it with its first request.
    this.#isKnown = true;
    if (stored.endMs <= this.#period.startMs) return;
    const { startMs, endMs, spent } = stored;
    this.#spent = startMs === this.#period.startMs ? largest(this.#spent, spent) : spent;
    this.#period = { startMs, endMs };
  }

  /** Switches to the period of `nowMs`. */
  #follow(nowMs: number): void {
    const { startMs, endMs } = this.#period;
    if (nowMs < startMs) {
      const earlier = localCalendar().periodOf(this.#per, nowMs);
      this.#begin({ ...earlier, endMs: Math.min(earlier.endMs, startMs) }, this.#spent, nowMs);
    } else if (nowMs >= endMs) this.#begin(localCalendar().periodOf(this.#per, nowMs), noSpending, nowMs);
  }

  #begin(period: Period, spent: Spent, nowMs: number): void {
    this.#period = period;
    this.#spent = plus(this.#load(nowMs), spent);
    this.#own = noSpending;
    this.#keep();
  }

  /** The ledger's total of the current period; zero while it is being read. */
  #load(nowMs: number): Spent {
    const period = this.#period;
    const loaded = this.#tryRead(() => this.#ports.load(period), nowMs);
    if (loaded === undefined) return noSpending;
    if (loaded instanceof Promise) {
      this.#askAgainAt = nowMs;
      this.#loading = this.#addLater(loaded, period);
      return noSpending;
    }
    this.#isKnown = true;
    return loaded;
  }

  async #addLater(loading: Promise<Spent>, period: Period): Promise<void> {
    try {
      const loaded = await loading;
      this.#hasReported = false;
      if (this.#period !== period) return;
      this.#spent = largest(this.#spent, loaded);
      this.#isKnown = true;
    } catch (error) {
      this.#reportOnce(error);
    }
  }

  /** Undefined if it fails; only the first of several failures is reported. */
  #tryRead<T>(ask: () => T, nowMs: number): T | undefined {
    try {
      return ask();
    } catch (error) {
      this.#reportOnce(error);
      this.#askAgainAt = nowMs;
      return undefined;
    }
  }

  #reportOnce(error: unknown): void {
    if (!this.#hasReported) this.#ports.failed(error);
    this.#hasReported = true;
  }

  /** An incomplete total must not replace the stored one. */
  #keep(): void {
    if (this.#isKnown && this.#isLoaded) this.#ports.keep({ ...this.#period, spent: this.#spent });
  }
}

function plus(a: Spent, b: Spent): Spent {
  return { usd: inNanodollars(a.usd + b.usd), tokens: a.tokens + b.tokens, unpriced: a.unpriced + b.unpriced };
}

/** The larger amount of each unit. */
export function largest(a: Spent, b: Spent): Spent {
  return {
    usd: Math.max(a.usd, b.usd),
    tokens: Math.max(a.tokens, b.tokens),
    unpriced: Math.max(a.unpriced, b.unpriced),
  };
}

/** Both in milliseconds. Wall time determines calendar periods; minutes are measured by a monotonic clock. */
export interface Clocks {
  wallMs(): number;
  steadyMs(): number;
}

interface AccountPorts {
  scope: LimitScope;
  id: string;
  /** Unix milliseconds; earlier usage belongs to a removed key of the same id. */
  sinceMs: number;
  clocks: Clocks;
  history: UsageHistory<LimitScope>;
  /** By job: what jobs that outlive their requests may still cost. */
  jobReservations(): ReadonlyMap<string, Amounts> | undefined;
  sums: Pick<BudgetSums, 'find' | 'keep'>;
  /** The ledger or the stored totals could not be read; this is retried later. */
  failed(error: unknown): void;
}

/** The expected usage of a request. */
export interface Estimate {
  /** Typical: counts against limits per minute and is shown as used. */
  likely: Amounts;
  /** Worst case: counts against hard budgets. */
  most: Amounts;
  /** Part of a request that is already running, so it does not count towards the concurrency limit. */
  isPart?: true;
}

/** Requests that cost nothing, such as queries about jobs: budgets do not block them. */
export const noCharge: Estimate = { likely: noSpending, most: noSpending };

/** What a running request has reserved. */
export interface Reservation {
  /** On the monotonic clock. */
  atMs: number;
  estimate: Estimate;
}

/** The actual usage of an ended request. */
export interface Settled {
  /** Unix milliseconds. */
  startedAt: number;
  used: Spent;
  /** It did not reach a provider, and was not answered from the cache, so it does not count as a request. */
  isVoid: boolean;
}

export class Account {
  readonly requests: MinuteWindow;
  readonly tokens: MinuteWindow;
  readonly #ports: AccountPorts;
  readonly #spending = new Map<Budget['per'], Spending>();
  #running = 0;
  /** Reservations by parts of running requests. */
  #parts = 0;
  #reserved = noCharge;

  constructor(ports: AccountPorts) {
    this.#ports = ports;
    const steady = ports.clocks.steadyMs();
    this.requests = new MinuteWindow(steady);
    this.tokens = new MinuteWindow(steady);
    this.#countLastMinute(ports.clocks.wallMs(), steady);
  }

  /** The number of running requests. */
  get running(): number {
    return this.#running;
  }

  /** The reservations of running requests and of jobs that outlive theirs. */
  get reserved(): Estimate {
    const jobReservations = this.#ports.jobReservations();
    return jobReservations
      ? { ...this.#reserved, most: [...jobReservations.values()].reduce(sum, this.#reserved.most) }
      : this.#reserved;
  }

  /** The amount spent by ended requests in the current period. `isKnown` false: it may be more, but cannot be read now. */
  spent(per: Budget['per']): { period: Period; spent: Spent; isKnown: boolean } {
    return this.#spendingOf(per).at(this.#ports.clocks.wallMs());
  }

  /** The part of it that requests used which ended here. */
  own(per: Budget['per']): Spent {
    return this.#spendingOf(per).own(this.#ports.clocks.wallMs());
  }

  /** Resolves once the amount spent is known or cannot be read; null: it is known at once. */
  loading(per: Budget['per']): Promise<void> | null {
    return this.#spendingOf(per).loading;
  }

  reserve({ atMs, estimate }: Reservation): void {
    this.#count(estimate, 1);
    this.requests.add(atMs, 1, atMs);
    this.tokens.add(atMs, estimate.likely.tokens, atMs);
    this.#reserved = {
      likely: sum(this.#reserved.likely, estimate.likely),
      most: sum(this.#reserved.most, estimate.most),
    };
  }

  /** Replaces a reservation by the actual usage. Tokens beyond the estimate count from now on. */
  settle({ atMs, estimate }: Reservation, { startedAt, used, isVoid }: Settled): void {
    const steady = this.#ports.clocks.steadyMs();
    this.#count(estimate, -1);
    if (isVoid) this.requests.add(atMs, -1, steady);
    const difference = used.tokens - estimate.likely.tokens;
    this.tokens.add(difference > 0 ? steady : atMs, difference, steady);
    // Resets rounding errors.
    this.#reserved = this.#running + this.#parts === 0 ? noCharge : minus(this.#reserved, estimate);
    this.count(startedAt, used);
  }

  /** Counts a request that began before there was a limit. */
  count(startedAt: number, used: Spent): void {
    for (const spending of this.#spending.values()) spending.add(startedAt, used);
  }

  #count({ isPart }: Estimate, change: 1 | -1): void {
    if (isPart) this.#parts += change;
    else this.#running += change;
  }

  #spendingOf(per: Budget['per']): Spending {
    let spending = this.#spending.get(per);
    if (!spending) {
      const { scope, id, sinceMs, history, sums, failed, clocks } = this.#ports;
      const owner = { scope, id, per, sinceMs };
      const load = ({ startMs, endMs }: Period) => {
        const isTotal = !Number.isFinite(startMs);
        return history.spent(scope, id, { startMs: isTotal ? startMs : Math.max(startMs, sinceMs), endMs });
      };
      const readStoredTotal = () => sums.find(owner);
      const keep = (sum: BudgetSum) => sums.keep(owner, sum);
      spending = new Spending(per, { load, readStoredTotal, keep, failed }, clocks.wallMs());
      this.#spending.set(per, spending);
    }
    return spending;
  }

  /** Counts the last minute before this account existed. */
  #countLastMinute(nowMs: number, steadyMs: number): void {
    const { scope, id, history, failed } = this.#ports;
    const count = (requests: readonly PastRequest[]) => {
      for (const { startedAt, tokens } of requests) {
        if (startedAt > nowMs) continue;
        const atMs = steadyMs - (nowMs - startedAt);
        this.requests.add(atMs, 1, steadyMs);
        this.tokens.add(atMs, tokens, steadyMs);
      }
    };
    try {
      const requests = history.requestsSince(scope, id, nowMs - minuteMs);
      if (requests instanceof Promise) requests.then(count).catch(failed);
      else count(requests);
    } catch (error) {
      failed(error);
    }
  }
}

function sum(a: Amounts, b: Amounts): Amounts {
  return { usd: inNanodollars(a.usd + b.usd), tokens: a.tokens + b.tokens };
}

function difference(a: Amounts, b: Amounts): Amounts {
  return { usd: inNanodollars(a.usd - b.usd), tokens: a.tokens - b.tokens };
}

function minus(a: Estimate, b: Estimate): Estimate {
  return { likely: difference(a.likely, b.likely), most: difference(a.most, b.most) };
}

/**
 * A sliding window over the last minute, in slots of one second. A slot leaves only once all of it is older than a
 * minute, so that no minute ever exceeds a limit; amounts up to a second older may still count. Uses constant memory,
 * and almost none before the first amount, since there may be very many windows. Times are milliseconds of a monotonic
 * clock.
 */
const slotMs = 1_000;
const slotCount = 61;

export class MinuteWindow {
  #slots: Float64Array | null = null;
  #newest: number;
  #sum = 0;

  constructor(nowMs: number) {
    this.#newest = slotOf(nowMs);
  }

  sum(nowMs: number): number {
    this.#advance(nowMs);
    return this.#sum;
  }

  /** Adds an amount at a time in the past; a negative one takes back. Times before the window are ignored. */
  add(atMs: number, amount: number, nowMs: number): void {
    this.#advance(nowMs);
    const slot = Math.min(slotOf(atMs), this.#newest);
    if (slot <= this.#newest - slotCount) return;
    this.#slots ??= new Float64Array(slotCount);
    const index = slot % slotCount;
    this.#slots[index] = (this.#slots[index] ?? 0) + amount;
    this.#sum += amount;
  }

  /** Milliseconds until the sum is below `limit` if nothing is added. */
  waitMs(limit: number, nowMs: number): number {
    this.#advance(nowMs);
    let rest = this.#sum;
    for (let slot = this.#newest - slotCount + 1; slot <= this.#newest; slot++) {
      if (rest < limit) return Math.max(0, leavesAt(slot - 1) - nowMs);
      rest -= this.#slots?.[slot % slotCount] ?? 0;
    }
    return leavesAt(this.#newest) - nowMs;
  }

  /** Milliseconds until the window is empty if nothing is added. */
  emptyInMs(nowMs: number): number {
    this.#advance(nowMs);
    const slots = this.#slots;
    if (slots === null) return 0;
    for (let slot = this.#newest; slot > this.#newest - slotCount; slot--) {
      if (slots[slot % slotCount] !== 0) return leavesAt(slot) - nowMs;
    }
    return 0;
  }

  #advance(nowMs: number): void {
    const now = slotOf(nowMs);
    const slots = this.#slots;
    for (let slot = Math.max(this.#newest, now - slotCount) + 1; slots !== null && slot <= now; slot++) {
      const index = slot % slotCount;
      this.#sum -= slots[index] ?? 0;
      slots[index] = 0;
    }
    if (now > this.#newest) this.#newest = now;
  }
}

/** Slots are numbered by the time they leave the window, so that numbers are positive even before the clock's origin. */
function slotOf(atMs: number): number {
  return Math.floor(atMs / slotMs) + slotCount;
}

function leavesAt(slot: number): number {
  return slot * slotMs;
}
