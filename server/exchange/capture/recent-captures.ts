/**
 * The newest requests of a laptop where capture is off: in memory until Sluice ends, and in no ledger, index or export. Secrets
 * are removed when somebody looks, so that a request costs no more than the copy of its bytes.
 */
import type { CapturedExchange } from '../../contract/capture.ts';
import type { MaybePromise } from '../../ground/promises.ts';

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

type Redacted = CapturedExchange<Buffer> | null;

interface Ports {
  ledger: { capture(id: string, exchange: CapturedExchange<Buffer>): void };
  log: { warn(fields: object, message: string): void; error(fields: object, message: string): void };
}

/** Captures whose long bodies are still searched for secrets are written when they are ready. */
export class WaitingCaptures {
  readonly #ports: Ports;
  readonly #waiting = new Map<string, Promise<void>>();

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** @param exchange null if it could not wait */
  add(id: string, exchange: MaybePromise<Redacted>): void {
    if (!(exchange instanceof Promise)) {
      this.#write(id, exchange);
      return;
    }
    const { log } = this.#ports;
    const writing = exchange.then(
      (redacted) => this.#write(id, redacted),
      (error) => log.error({ request: id, error }, 'a request cannot be captured'),
    );
    this.#waiting.set(id, writing);
    writing.finally(() => this.#waiting.delete(id));
  }

  /** Resolves when the capture of this request is written, if it waits. */
  async ready(id: string): Promise<void> {
    await this.#waiting.get(id);
  }

  /** Resolves when none waits. */
  async settled(): Promise<void> {
    while (this.#waiting.size > 0) await Promise.all(this.#waiting.values());
  }

  #write(id: string, redacted: Redacted): void {
    const { ledger, log } = this.#ports;
    if (redacted) ledger.capture(id, redacted);
    else log.warn({ request: id }, 'a request is not captured, since too many are captured at the same time');
  }
}
