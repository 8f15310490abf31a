/** How often one prompt came of late, in steps of a minute. */
const stepMs = 60_000;
/** Whole minutes that are looked at: the first is only what the second is compared with. */
const steps = 5;

/** From each minute to the next: nearly twice as often, so that noise does not hide what doubles. */
const rise = 1.8;
/** What rises from less may only just have been noticed. */
const fewestBefore = 20;
/** In the last whole minute. */
const fewestRepeats = 240;
/** In the last whole minute. No program that waits for answers comes near it; a load test does. */
const mostRepeats = 3_000;

export class PromptPace {
  /** The one that runs is the last; the others are whole. */
  #counts = new Array<number>(steps + 1).fill(0);
  #step = 0;

  add(nowMs: number): void {
    this.#advance(nowMs);
    this.#counts[steps] = (this.#counts[steps] ?? 0) + 1;
  }

  /** In the last whole minute. */
  lastMinute(nowMs: number): number {
    this.#advance(nowMs);
    return this.#counts[steps - 1] ?? 0;
  }

  /** Very often, and for five minutes in each of them far more often than in the one before. */
  isRunaway(nowMs: number): boolean {
    const last = this.lastMinute(nowMs);
    const whole = this.#counts.slice(0, steps);
    return last >= fewestRepeats && last <= mostRepeats && whole.every((_, step) => step === 0 || rises(whole, step));
  }

  /** In the last whole minute it still rose. */
  isRising(nowMs: number): boolean {
    this.#advance(nowMs);
    return rises(this.#counts, steps - 1);
  }

  #advance(nowMs: number): void {
    const step = Math.floor(nowMs / stepMs);
    const passed = Math.min(step - this.#step, steps + 1);
    if (passed <= 0) return;
    this.#counts = [...this.#counts.slice(passed), ...new Array<number>(passed).fill(0)];
    this.#step = step;
  }
}

function rises(counts: readonly number[], step: number): boolean {
  const before = counts[step - 1] ?? 0;
  return before >= fewestBefore && (counts[step] ?? 0) >= before * rise;
}
