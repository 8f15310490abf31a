/** Exponentially decaying measurements. Times are milliseconds of a monotonic clock. */

const halfLifeMs = 15_000;
/** After this time a new measurement has the weight 1 - 1/e. */
const memoryMs = 30_000;
const leastShare = 0.2;

/** Recent calls and their failures. */
export class RecentCalls {
  #calls = 0;
  #failures = 0;
  #atMs = 0;

  count(isFailure: boolean, nowMs: number): void {
    const kept = this.#kept(nowMs);
    this.#calls = this.#calls * kept + 1;
    this.#failures = this.#failures * kept + (isFailure ? 1 : 0);
    this.#atMs = nowMs;
  }

  /** Weighted by age, so not an integer. */
  calls(nowMs: number): number {
    return this.#calls * this.#kept(nowMs);
  }

  /** 0 to 1. */
  get errorRate(): number {
    return this.#calls === 0 ? 0 : this.#failures / this.#calls;
  }

  forget(): void {
    this.#calls = 0;
    this.#failures = 0;
  }

  #kept(nowMs: number): number {
    const ageMs = nowMs - this.#atMs;
    return ageMs <= 0 ? 1 : 2 ** (-ageMs / halfLifeMs);
  }
}

/** A moving average; the older the last measurement, the more the new one counts. */
export class RecentMean {
  #mean: number | null = null;
  #atMs = 0;

  get value(): number | null {
    return this.#mean;
  }

  /** Time of the last measurement. */
  get atMs(): number {
    return this.#atMs;
  }

  add(value: number, nowMs: number): void {
    const share = this.#mean === null ? 1 : Math.max(leastShare, 1 - Math.exp((this.#atMs - nowMs) / memoryMs));
    this.#mean = (this.#mean ?? 0) * (1 - share) + value * share;
    this.#atMs = nowMs;
  }
}
