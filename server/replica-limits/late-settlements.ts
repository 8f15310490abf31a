import type { Settlement } from './replica-counts.ts';

/**
 * Beyond this number, further settlements are dropped, because the ledger restores the amounts spent. The oldest are
 * kept, because they end leases.
 */
const most = 10_000;
const atOnce = 100;

/** Settlements that have not reached Valkey, or may not have. */
export class LateSettlements {
  #waiting: Settlement[] = [];

  add(settlement: Settlement): void {
    if (this.#waiting.length < most) this.#waiting.push(settlement);
  }

  /**
   * Sends the settlements that are waiting now, in order. Rejects with the first failure; those that did not arrive
   * stay.
   */
  async send(settle: (settlement: Settlement) => Promise<unknown>): Promise<void> {
    for (let left = this.#waiting.length; left > 0; left -= atOnce) {
      const sent = this.#waiting.splice(0, Math.min(atOnce, left));
      const results = await Promise.allSettled(sent.map(settle));
      this.#waiting.unshift(...sent.filter((_, index) => results[index]?.status === 'rejected'));
      const failure = results.find((result) => result.status === 'rejected');
      if (failure) throw failure.reason;
    }
  }
}
