/**
 * A sliding window over the last minute, in slots of one second. A slot leaves only once all of it is older than a
 * minute, so that no minute ever exceeds a limit; amounts up to a second older may still count. Keeps only slots with an
 * amount, since there may be very many windows that are rarely used. Times are milliseconds of a monotonic clock.
 */
const slotMs = 1_000;
const slotCount = 61;

interface Slot {
  number: number;
  amount: number;
}

export class MinuteWindow {
  /** Oldest first. */
  readonly #slots: Slot[] = [];
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
    const number = Math.min(slotOf(atMs), this.#newest);
    if (amount === 0 || number <= this.#newest - slotCount) return;
    const before = this.#slots.findLastIndex((slot) => slot.number <= number);
    const slot = this.#slots[before];
    if (slot?.number === number) slot.amount += amount;
    else this.#slots.splice(before + 1, 0, { number, amount });
    this.#sum += amount;
  }

  /** Milliseconds until the sum is below `limit` if nothing is added. */
  waitMs(limit: number, nowMs: number): number {
    this.#advance(nowMs);
    let rest = this.#sum;
    if (rest < limit) return 0;
    for (const { number, amount } of this.#slots) {
      rest -= amount;
      if (rest < limit) return leavesAt(number) - nowMs;
    }
    return leavesAt(this.#newest) - nowMs;
  }

  /** Milliseconds until the window is empty if nothing is added. */
  emptyInMs(nowMs: number): number {
    this.#advance(nowMs);
    const last = this.#slots.findLast(({ amount }) => amount !== 0);
    return last ? leavesAt(last.number) - nowMs : 0;
  }

  #advance(nowMs: number): void {
    this.#newest = Math.max(this.#newest, slotOf(nowMs));
    for (let [first] = this.#slots; first && first.number <= this.#newest - slotCount; [first] = this.#slots) {
      this.#sum -= first.amount;
      this.#slots.shift();
    }
  }
}

/** Slots are numbered by the time they leave the window, so that numbers are positive even before the clock's origin. */
function slotOf(atMs: number): number {
  return Math.floor(atMs / slotMs) + slotCount;
}

function leavesAt(slot: number): number {
  return slot * slotMs;
}
