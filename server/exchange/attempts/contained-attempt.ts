import type { ResponseHeaders } from '../../transport/transport.ts';
import type { TransportError } from '../../transport/transport-error.ts';

/** Completes the sentence "Provider … ". */
export const unreadable = 'sent an answer that Sluice failed to read; its log says why';

/** What connection and timers call on an attempt. */
interface CalledAttempt {
  sent(): void;
  answered(status: number, headers: ResponseHeaders): void;
  take(chunk: Buffer): void;
  finished(): void | Promise<void>;
  late(error: TransportError): void;
  uncounted(): void;
  redirected(location: string): void;
}

/**
 * Contains exceptions thrown while an answer is read. None of the callers could handle one: it would end the process, or
 * leave the request waiting forever.
 * Written out for each method: a function that is passed one would cost a closure per chunk.
 */
export class ContainedAttempt implements CalledAttempt {
  readonly #attempt: CalledAttempt;
  readonly #broke: (fault: unknown) => void;

  constructor(attempt: CalledAttempt, broke: (fault: unknown) => void) {
    this.#attempt = attempt;
    this.#broke = broke;
  }

  sent(): void {
    try {
      this.#attempt.sent();
    } catch (fault) {
      this.#broke(fault);
    }
  }

  answered(status: number, headers: ResponseHeaders): void {
    try {
      this.#attempt.answered(status, headers);
    } catch (fault) {
      this.#broke(fault);
    }
  }

  take(chunk: Buffer): void {
    try {
      this.#attempt.take(chunk);
    } catch (fault) {
      this.#broke(fault);
    }
  }

  finished(): void {
    try {
      const ending = this.#attempt.finished();
      if (ending) ending.catch(this.#broke);
    } catch (fault) {
      this.#broke(fault);
    }
  }

  late(error: TransportError): void {
    try {
      this.#attempt.late(error);
    } catch (fault) {
      this.#broke(fault);
    }
  }

  uncounted(): void {
    try {
      this.#attempt.uncounted();
    } catch (fault) {
      this.#broke(fault);
    }
  }

  redirected(location: string): void {
    try {
      this.#attempt.redirected(location);
    } catch (fault) {
      this.#broke(fault);
    }
  }
}
