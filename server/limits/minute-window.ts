/**
 * How much there was in the last minute: a sliding window of slots of one second. A slot leaves only when all of it is
 * older than a minute, so that in no minute, wherever it begins, more passes than is allowed; what is counted may be up to
 * a second older. An amount costs an addition, a look the slots that have passed since the last one, and the memory does
 * not grow. Times are those of a clock that is never set, in milliseconds.
 */
const slotMs = 1_000;
const slotCount = 61;

export class MinuteWindow {
  readonly #slots = new Float64Array(slotCount);
  #newest: number;
  #sum = 0;

  constructor(nowMs: number) {
    this.#newest = slotOf(nowMs);
  }

  sum(nowMs: number): number {
    this.#advance(nowMs);
    return this.#sum;
  }

  /** What happened at `atMs`, which may be a while ago; a negative amount takes back. What has left counts no more. */
  add(atMs: number, amount: number, nowMs: number): void {
    this.#advance(nowMs);
    const slot = Math.min(slotOf(atMs), this.#newest);
    if (slot <= this.#newest - slotCount) return;
    const index = slot % slotCount;
    this.#slots[index] = (this.#slots[index] ?? 0) + amount;
    this.#sum += amount;
  }

  /** In how many milliseconds the sum is below `limit`, if nothing is added; 0 if it is now. */
  waitMs(limit: number, nowMs: number): number {
    this.#advance(nowMs);
    let rest = this.#sum;
    for (let slot = this.#newest - slotCount + 1; slot <= this.#newest; slot++) {
      if (rest < limit) return Math.max(0, leavesAt(slot - 1) - nowMs);
      rest -= this.#slots[slot % slotCount] ?? 0;
    }
    return leavesAt(this.#newest) - nowMs;
  }

  /** In how many milliseconds there is nothing in it, if nothing is added. */
  emptyInMs(nowMs: number): number {
    this.#advance(nowMs);
    for (let slot = this.#newest; slot > this.#newest - slotCount; slot--) {
      if (this.#slots[slot % slotCount] !== 0) return leavesAt(slot) - nowMs;
    }
    return 0;
  }

  #advance(nowMs: number): void {
    const now = slotOf(nowMs);
    for (let slot = Math.max(this.#newest, now - slotCount) + 1; slot <= now; slot++) {
      const index = slot % slotCount;
      this.#sum -= this.#slots[index] ?? 0;
      this.#slots[index] = 0;
    }
    if (now > this.#newest) this.#newest = now;
  }
}

/** Numbered by when they leave, which keeps the numbers above 0 also for what was before the clock began. */
function slotOf(atMs: number): number {
  return Math.floor(atMs / slotMs) + slotCount;
}

function leavesAt(slot: number): number {
  return slot * slotMs;
}
