/** How often one prompt came in the last minute, in steps of ten seconds. */
const stepMs = 10_000;
const steps = 6;

/** In a minute. */
const fewestRepeats = 60;
/** From step to step, three times in a row. */
const rise = 1.2;
/** In a step. No program that waits for answers comes near it; a load test does. */
const mostRepeats = 500;

export class PromptPace {
  /** The one that runs is the last; the others are whole. */
  #counts = new Array<number>(steps + 1).fill(0);
  #step = 0;

  add(nowMs: number): void {
    this.#advance(nowMs);
    this.#counts[steps] = (this.#counts[steps] ?? 0) + 1;
  }

  lastMinute(nowMs: number): number {
    this.#advance(nowMs);
    return this.#counts.reduce((sum, count) => sum + count, 0);
  }

  /** Very often, and in each of the last three whole steps clearly more often than in the one before. */
  isRunaway(nowMs: number): boolean {
    if (this.lastMinute(nowMs) < fewestRepeats) return false;
    const [first = 0, second = 0, third = 0] = this.#counts.slice(steps - 3, steps);
    return first > 0 && second >= first * rise && third >= second * rise && third <= mostRepeats;
  }

  #advance(nowMs: number): void {
    const step = Math.floor(nowMs / stepMs);
    const passed = Math.min(step - this.#step, steps + 1);
    if (passed <= 0) return;
    this.#counts = [...this.#counts.slice(passed), ...new Array<number>(passed).fill(0)];
    this.#step = step;
  }
}
