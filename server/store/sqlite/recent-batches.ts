/** Which rows were written together, so that a recent row is found by its time without a look at a whole hour. */

/** The rows of a batch, and when the first and the last of their requests began. */
export interface Batch {
  firstSeq: number;
  lastSeq: number;
  sinceMs: number;
  untilMs: number;
}

/** Where little is asked, a batch is one row: as many as the beginnings of conversations that are remembered. */
const maxBatches = 4_096;

export class RecentBatches {
  #batches: Batch[] = [];

  /** `current`: the batch so far, or null; returns it with one more row. */
  static extended(current: Batch | null, seq: number, startedAt: number): Batch {
    if (current === null) return { firstSeq: seq, lastSeq: seq, sinceMs: startedAt, untilMs: startedAt };
    current.firstSeq = Math.min(current.firstSeq, seq);
    current.lastSeq = Math.max(current.lastSeq, seq);
    current.sinceMs = Math.min(current.sinceMs, startedAt);
    current.untilMs = Math.max(current.untilMs, startedAt);
    return current;
  }

  add(batch: Batch): void {
    this.#batches.push(batch);
    if (this.#batches.length >= 2 * maxBatches) this.#batches = this.#batches.slice(-maxBatches);
  }

  /** Those that may have a request that began at this time, newest first. */
  *at(startedAt: number): Generator<Batch, void, undefined> {
    for (let index = this.#batches.length - 1; index >= 0; index--) {
      const batch = this.#batches[index];
      if (batch && batch.sinceMs <= startedAt && startedAt <= batch.untilMs) yield batch;
    }
  }

  clear(): void {
    this.#batches = [];
  }
}
