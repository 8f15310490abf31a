/**
 * Ends an open session when its key may no longer be used or its budget is spent, even if nothing is sent in it: when
 * the configuration changes, and when the key expires.
 */

import { after } from '../../ground/timers.ts';
import type { CompiledKey } from '../../routing/snapshot.ts';
import type { Refusal } from './session-relay.ts';

interface SessionEndOptions {
  /** Why the session may not continue, as of now; null if it may. */
  check(): Refusal | null;
  /** The key as currently configured; null if there is none any more. */
  key(): Pick<CompiledKey, 'expiresAtMs' | 'replacedAtMs'> | null;
  end(refusal: Refusal): void;
}

/** The longest delay of Node's timers; a later expiry is looked at again then. */
const maxDelayMs = 2 ** 31 - 1;

export class SessionEnd {
  readonly #options: SessionEndOptions;
  #expiry: NodeJS.Timeout | undefined;

  constructor(options: SessionEndOptions) {
    this.#options = options;
    this.checkNow();
  }

  checkNow(): void {
    this.stop();
    const { check, key, end } = this.#options;
    const refusal = check();
    if (refusal) {
      end(refusal);
      return;
    }
    const endMs = Math.min(
      ...[key()?.expiresAtMs, key()?.replacedAtMs].map((atMs) => atMs ?? Number.POSITIVE_INFINITY),
    );
    if (endMs === Number.POSITIVE_INFINITY) return;
    this.#expiry = after(() => this.checkNow(), Math.min(Math.max(endMs - Date.now(), 1), maxDelayMs)).unref();
  }

  stop(): void {
    clearTimeout(this.#expiry);
  }
}
