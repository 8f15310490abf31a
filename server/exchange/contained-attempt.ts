import type { ResponseHeaders } from '../transport/transport.ts';
import type { TransportError } from '../transport/transport-error.ts';

/** Completes the sentence "Provider … ". */
export const unreadable = 'sent an answer that Sluice failed to read; its log says why';

/** What connection and timers call on an attempt. */
interface CalledAttempt {
  sent(): void;
  answered(status: number, headers: ResponseHeaders): void;
  take(chunk: Buffer): void;
  finished(): void | Promise<void>;
  late(error: TransportError): void;
  redirected(location: string): void;
}

/**
 * Contains exceptions thrown while an answer is read. None of the callers could handle one: it would end the process, or
 * leave the request waiting forever.
 */
export class ContainedAttempt implements CalledAttempt {
  readonly #attempt: CalledAttempt;
  readonly #broke: (fault: unknown) => void;

  constructor(attempt: CalledAttempt, broke: (fault: unknown) => void) {
    this.#attempt = attempt;
    this.#broke = broke;
  }

  sent(): void {
    this.#contain(() => this.#attempt.sent());
  }

  answered(status: number, headers: ResponseHeaders): void {
    this.#contain(() => this.#attempt.answered(status, headers));
  }

  take(chunk: Buffer): void {
    this.#contain(() => this.#attempt.take(chunk));
  }

  finished(): void {
    this.#contain(() => this.#attempt.finished());
  }

  late(error: TransportError): void {
    this.#contain(() => this.#attempt.late(error));
  }

  redirected(location: string): void {
    this.#contain(() => this.#attempt.redirected(location));
  }

  #contain(call: () => void | Promise<void>): void {
    try {
      const ending = call();
      if (ending) ending.catch(this.#broke);
    } catch (fault) {
      this.#broke(fault);
    }
  }
}
