import type { Settlement } from './replica-counts.ts';

/**
 * Beyond this number, the audit against the ledger restores what was spent. The oldest are kept, since they end leases.
 */
const maxPending = 10_000;
const batchSize = 100;

/** Settlements that have not reached Valkey, or may not have. */
export class PendingSettlements {
  #waiting: Settlement[] = [];

  add(settlement: Settlement): void {
    if (this.#waiting.length < maxPending) this.#waiting.push(settlement);
  }

  /**
   * Sends the settlements that are waiting now, in order. Rejects with the first failure; those that did not arrive
   * stay.
   */
  async send(settle: (settlement: Settlement) => Promise<unknown>): Promise<void> {
    for (let left = this.#waiting.length; left > 0; left -= batchSize) {
      const sent = this.#waiting.splice(0, Math.min(batchSize, left));
      const results = await Promise.allSettled(sent.map(settle));
      this.#waiting.unshift(...sent.filter((_, index) => results[index]?.status === 'rejected'));
      const failure = results.find((result) => result.status === 'rejected');
      if (failure) throw failure.reason;
    }
  }
}
