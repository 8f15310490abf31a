import type { Settlement } from './replica-counts.ts';

/** Beyond this number the oldest are dropped; what they spent is then brought back by the ledger's sums. */
const most = 10_000;
const atOnce = 100;

/** Settlements that have not reached Valkey, or perhaps have. */
export class LateSettlements {
  #waiting: { settlement: Settlement; isAgain: boolean }[] = [];

  /** `isAgain`: it may have been counted already. */
  add(settlement: Settlement, isAgain: boolean): void {
    if (this.#waiting.length >= most) this.#waiting.shift();
    this.#waiting.push({ settlement, isAgain });
  }

  /** Sends each in order. Rejects with the first failure; what did not arrive stays. */
  async send(settle: (settlement: Settlement, isAgain: boolean) => Promise<unknown>): Promise<void> {
    while (this.#waiting.length > 0) {
      const sent = this.#waiting.splice(0, atOnce);
      const results = await Promise.allSettled(sent.map(({ settlement, isAgain }) => settle(settlement, isAgain)));
      const failed = sent.filter((_, index) => results[index]?.status === 'rejected');
      this.#waiting.unshift(...failed.map(({ settlement }) => ({ settlement, isAgain: true })));
      const failure = results.find((result) => result.status === 'rejected');
      if (failure) throw failure.reason;
    }
  }
}
