/** Captures whose long bodies are still searched for secrets are written when they are ready. */
import type { CapturedExchange } from '../../contract/capture.ts';
import type { MaybePromise } from '../../ground/maybe-promise.ts';

type Redacted = CapturedExchange<Buffer> | null;

interface Ports {
  ledger: { capture(id: string, exchange: CapturedExchange<Buffer>): void };
  log: { warn(fields: object, message: string): void; error(fields: object, message: string): void };
}

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
