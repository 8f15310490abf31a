/**
 * Whether one target or credential is to be asked now, from how it answered so far. Closed: it is asked. Cooling: it is not,
 * until a moment. After that moment one request at a time tries it, and what becomes of that one decides. Has no clock of its
 * own: every moment comes in, as milliseconds of a clock that is never set.
 */
import type { FailureClass } from '../../contract/ledger.ts';
import { type CooldownRule, longestGuessMs } from './cooldown-rules.ts';

export interface CircuitFailure {
  failure: FailureClass;
  rule: CooldownRule;
  /** What the upstream told to wait. */
  toldMs: number | null;
}

/** A trial that is silent for so long makes room for the next one. */
const trialMs = longestGuessMs;
/** After so many more good answers one that had failed is trusted as before; until then a single failure is enough. */
const provenAfter = 3;
/** A cooldown that begins so long after the last one has nothing to do with it. */
const calmMs = 60_000;

export class Circuit {
  /** When it may be asked again; 0 while it is closed. */
  #untilMs = 0;
  #trialUntilMs = 0;
  #inARow = 0;
  #level = 0;
  #closedAtMs = 0;
  /** Since the last cooldown. */
  #goodInARow = provenAfter;
  #failure: FailureClass | null = null;

  get isClosed(): boolean {
    return this.#untilMs === 0;
  }

  /** Closed, and nothing is held against it. */
  get isTrusted(): boolean {
    return this.#untilMs === 0 && this.#inARow === 0 && this.#goodInARow >= provenAfter;
  }

  /** 0 while it is closed; infinite: until a person mends it. */
  get untilMs(): number {
    return this.#untilMs;
  }

  /** What the last cooldown was for, while it has not answered well for some time since. */
  get failure(): FailureClass | null {
    return this.#failure;
  }

  mayBeAsked(nowMs: number): boolean {
    return this.#untilMs === 0 || (this.#untilMs <= nowMs && this.#trialUntilMs <= nowMs);
  }

  began(nowMs: number): void {
    if (this.#untilMs !== 0) this.#trialUntilMs = nowMs + trialMs;
  }

  /** An attempt ended that says nothing about health: the next one may try. */
  ended(): void {
    this.#trialUntilMs = 0;
  }

  /** Of an attempt that began before the cooldown, success is no news: nothing was tried since. */
  succeeded(nowMs: number): void {
    this.#inARow = 0;
    if (this.#untilMs === 0) {
      if (this.#goodInARow < provenAfter && ++this.#goodInARow === provenAfter) this.#failure = null;
    } else if (this.#trialUntilMs !== 0) {
      this.#untilMs = 0;
      this.#trialUntilMs = 0;
      this.#closedAtMs = nowMs;
      this.#goodInARow = 0;
    }
  }

  failed(how: CircuitFailure, nowMs: number): void {
    this.#inARow++;
    const wasTried = this.#trialUntilMs !== 0;
    this.#trialUntilMs = 0;
    const toldMs = heededMs(how);
    if (this.#untilMs > nowMs && !wasTried) {
      // Requests that ran already fail together; they are one failure. But what is told is heeded.
      if (toldMs !== null) this.#untilMs = Math.max(this.#untilMs, nowMs + toldMs);
      return;
    }
    const isOnTrial = this.#untilMs !== 0 || this.#goodInARow < provenAfter;
    if (isOnTrial || toldMs !== null || this.#inARow >= how.rule.afterInARow) this.coolDown(how, nowMs);
  }

  coolDown(how: CircuitFailure, nowMs: number): void {
    const { rule, failure } = how;
    if (this.#untilMs === 0 && nowMs - this.#closedAtMs > calmMs) this.#level = 0;
    const guessMs = Math.min(rule.longestMs, rule.firstMs * 2 ** this.#level);
    if (guessMs < rule.longestMs) this.#level++;
    this.#untilMs = nowMs + (heededMs(how) ?? guessMs);
    this.#failure = failure;
    this.#goodInARow = 0;
  }
}

function heededMs({ rule, toldMs }: CircuitFailure): number | null {
  return toldMs === null || rule.longestToldMs === null ? null : Math.min(Math.max(toldMs, 1), rule.longestToldMs);
}
