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
