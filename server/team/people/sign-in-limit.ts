/** Limits how often an address can begin or finish a sign-in, since each calls the identity provider. */

import { GatewayError } from '../../contract/errors.ts';
import { minuteMs } from '../../contract/units.ts';

/** Enough for an office behind one address, and for a command line that polls every five seconds. */
const attemptsPerMinute = 60;
/** Beyond this, all further addresses count as one. */
const maxAddresses = 10_000;

export class SignInLimit {
  readonly #nowMs: () => number;
  readonly #most: number;
  readonly #refusal: string;
  #minute = -1;
  #attempts = new Map<string, number>();

  constructor(
    nowMs: () => number,
    most = attemptsPerMinute,
    refusal = 'Too many attempts to sign in. Wait a minute and try again.',
  ) {
    this.#refusal = refusal;
    this.#most = most;
    this.#nowMs = nowMs;
  }

  /** Throws GatewayError `sign_in_limit`. */
  count(address: string | null): void {
    const now = this.#nowMs();
    const minute = Math.floor(now / minuteMs);
    if (minute !== this.#minute) {
      this.#minute = minute;
      this.#attempts = new Map();
    }
    const isCounted = this.#attempts.has(address ?? '') || this.#attempts.size < maxAddresses;
    const name = isCounted ? (address ?? '') : '';
    const attempts = (this.#attempts.get(name) ?? 0) + 1;
    this.#attempts.set(name, attempts);
    if (attempts <= this.#most) return;
    throw new GatewayError('sign_in_limit', this.#refusal, {
      retryAfterSeconds: Math.ceil(((minute + 1) * minuteMs - now) / 1_000),
    });
  }
}
