/**
 * The newest requests of a laptop where capture is off: in memory until Sluice ends, and in no ledger, index or export. Secrets
 * are removed when somebody looks, so that a request costs no more than the copy of its bytes.
 */
import type { CapturedExchange } from '../../contract/capture.ts';
import type { MaybePromise } from '../../ground/maybe-promise.ts';

/** Of each body; the rest is cut. */
export const recentBodyBytes = 256 * 1024;
const mostRequests = 50;
const mostBytes = 16 * 1024 * 1024;

/** An exchange that has ended, with its own copies of what is kept of it. */
export interface HeldExchange {
  bytes: number;
  /** Without secrets. Null if too many are being searched for them. */
  exchange(): MaybePromise<CapturedExchange<Buffer> | null>;
}

export class RecentCaptures {
  readonly #held = new Map<string, HeldExchange>();
  #bytes = 0;

  keep(id: string, held: HeldExchange): void {
    this.#held.set(id, held);
    this.#bytes += held.bytes;
    for (const [oldest, { bytes }] of this.#held) {
      if (this.#held.size <= mostRequests && this.#bytes <= mostBytes) return;
      this.#held.delete(oldest);
      this.#bytes -= bytes;
    }
  }

  find(id: string): MaybePromise<CapturedExchange<Buffer> | null> {
    return this.#held.get(id)?.exchange() ?? null;
  }

  /** Of the requests that are held. */
  ids(): ReadonlySet<string> {
    return new Set(this.#held.keys());
  }

  clear(): void {
    this.#held.clear();
    this.#bytes = 0;
  }

  get bytes(): number {
    return this.#bytes;
  }
}
