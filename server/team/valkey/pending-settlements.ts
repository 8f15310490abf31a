import type { Settlement } from './replica-counts.ts';

/**
 * Beyond this number, the audit against the ledger restores what was spent. The oldest are kept, since they end leases.
 */
const maxPending = 10_000;
const batchSize = 100;

/** Settlements that have not reached Valkey, or may not have. */
export class PendingSettlements {
  #settlements: Settlement[] = [];

  add(settlement: Settlement): void {
    if (this.#settlements.length < maxPending) this.#settlements.push(settlement);
  }

  /**
   * Sends the settlements that are waiting now, in order. Rejects with the first failure; those that did not arrive
   * stay.
   */
  async send(settle: (settlement: Settlement) => Promise<unknown>): Promise<void> {
    for (let remaining = this.#settlements.length; remaining > 0; remaining -= batchSize) {
      const batch = this.#settlements.splice(0, Math.min(batchSize, remaining));
      const results = await Promise.allSettled(batch.map(settle));
      this.#settlements.unshift(...batch.filter((_, index) => results[index]?.status === 'rejected'));
      const failure = results.find((result) => result.status === 'rejected');
      if (failure) throw failure.reason;
    }
  }
}
