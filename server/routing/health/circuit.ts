/**
 * A circuit breaker for a target or credential. Closed: it is used. Open: it is in a cooldown. After the cooldown one
 * request at a time tries it (half-open), and its result closes the circuit or begins the next cooldown. All times are passed
 * in, as milliseconds of a monotonic clock.
 */
import type { FailureClass } from '../../contract/ledger.ts';
import type { FailedWith } from '../../contract/provider-views.ts';
import { type CooldownRule, longestGuessMs, refusedAloneMs, refusedTrialMs } from './cooldown-rules.ts';

export interface CircuitFailure {
  failure: FailureClass;
  failedWith: FailedWith;
  rule: CooldownRule;
  /** The upstream's `Retry-After`. */
  retryAfterMs: number | null;
}

/** A trial without an answer for this long no longer blocks the next one. */
const trialMs = longestGuessMs;
/** Successes needed after a cooldown; until then a single failure begins the next one. */
const requiredSuccesses = 3;
/** A cooldown that begins this long after the last one starts at the first duration again. */
const resetLevelAfterMs = 60_000;

export class Circuit {
  /** End of the cooldown; 0 while closed. */
  #untilMs = 0;
  #trialUntilMs = 0;
  /** Those that count towards the next cooldown. */
  #consecutiveFailures = 0;
  /** Since the last success, also before a reset. */
  #failures = 0;
  #level = 0;
  #closedAtMs = 0;
  /** Successes since the last cooldown. */
  #consecutiveSuccesses = requiredSuccesses;
  #failure: FailureClass | null = null;
  #failedWith: FailedWith = null;
  #isRemote = false;
  /** The upstream itself told when the cooldown ends. */
  #isStated = false;
  #sinceMs = 0;
  /** When the last failure was seen here. */
  #failedAtMs = 0;
  /** When the last attempt since the cooldown began. */
  #askedAtMs = 0;

  get isClosed(): boolean {
    return this.#untilMs === 0;
  }

  /** Closed, without recent failures. */
  get isTrusted(): boolean {
    return this.#untilMs === 0 && this.#failures === 0 && this.#consecutiveSuccesses >= requiredSuccesses;
  }

  /** End of the cooldown; 0 while closed, infinite if a person has to act, though it is tried now and then. */
  get untilMs(): number {
    return this.isRefused ? Number.POSITIVE_INFINITY : this.#untilMs;
  }

  /** Whether it is a credential that the upstream refused here. */
  get isRefused(): boolean {
    return this.#untilMs !== 0 && this.#failure === 'credential' && !this.#isRemote;
  }

  /** How long a refused credential is not asked although nothing else can answer; 0: the next request tries it. */
  refusedForMs(nowMs: number): number {
    return Math.max(0, this.#askedAtMs + refusedAloneMs - nowMs);
  }

  /**
   * How long the upstream has asked not to be asked, because of a limit: it may count what it refuses. A long wait is checked now
   * and then, since the limit may have been raised.
   */
  heldBackForMs(nowMs: number): number {
    if (!this.#isStated || this.#failure !== 'rate-limit' || this.#untilMs <= nowMs) return 0;
    return nowMs - this.#askedAtMs >= refusedTrialMs ? 0 : this.#untilMs - nowMs;
  }

  /**
   * How long a request to which nothing else is left waits before it tries again: to the end of the cooldown, or until the trouble
   * has lasted for `patienceMs`. 0: there is no cooldown; null: the trouble has lasted for too long.
   */
  worthWaitingMs(nowMs: number, patienceMs: number): number | null {
    const leftMs = this.#untilMs - nowMs;
    if (leftMs <= patienceMs) return Math.max(0, leftMs);
    const waitMs = this.#sinceMs + patienceMs - nowMs;
    return waitMs > 0 && !this.isRefused ? waitMs : null;
  }

  /** Whether it is in a cooldown because another replica saw it fail. */
  get isRemote(): boolean {
    return this.#isRemote;
  }

  /** Beginning of the first cooldown since the last success. */
  get sinceMs(): number {
    return this.#sinceMs;
  }

  /** What failed last; null if it has answered since. */
  get failure(): FailureClass | null {
    return this.#untilMs === 0 && this.#failures === 0 ? null : this.#failure;
  }

  /** What the call behind `failure` met. */
  get failedWith(): FailedWith {
    return this.failure === null ? null : this.#failedWith;
  }

  /** Since the last success. */
  get failures(): number {
    return this.#failures;
  }

  /** When the last failure was seen here; 0: never. */
  get failedAtMs(): number {
    return this.#failedAtMs;
  }

  isAvailable(nowMs: number): boolean {
    return this.#untilMs === 0 || (this.#untilMs <= nowMs && this.#trialUntilMs <= nowMs);
  }

  began(nowMs: number): void {
    if (this.#untilMs === 0) return;
    this.#trialUntilMs = nowMs + trialMs;
    this.#askedAtMs = nowMs;
  }

  /** An attempt ended without saying anything about health; the next one may be the trial. */
  ended(): void {
    this.#trialUntilMs = 0;
  }

  /** A success closes the circuit only if it was a trial: other attempts began before the cooldown. */
  succeeded(nowMs: number): void {
    this.#consecutiveFailures = 0;
    if (this.#untilMs === 0) {
      this.#failures = 0;
      if (this.#consecutiveSuccesses < requiredSuccesses) this.#consecutiveSuccesses++;
    } else if (this.#trialUntilMs !== 0) this.#close(nowMs);
  }

  /** A test succeeded, which began after any failure: it closes the circuit like a trial. */
  proved(nowMs: number): void {
    this.#consecutiveFailures = 0;
    this.#failures = 0;
    if (this.#untilMs !== 0) this.#close(nowMs);
  }

  /** Ends the cooldown, so that the next request tries it, but keeps what failed until that has answered. */
  reset(): void {
    this.#untilMs = 0;
    this.#trialUntilMs = 0;
    this.#level = 0;
    this.#consecutiveFailures = 0;
    this.#consecutiveSuccesses = requiredSuccesses;
    this.#isRemote = false;
  }

  #close(nowMs: number): void {
    this.#untilMs = 0;
    this.#trialUntilMs = 0;
    this.#failures = 0;
    this.#closedAtMs = nowMs;
    if (!this.#isRemote) this.#consecutiveSuccesses = 0;
    this.#isRemote = false;
  }

  /**
   * Opens the circuit because another replica saw a failure. False if it is open already for a failure seen here, which
   * takes precedence.
   */
  openRemotely({ failure, failedWith }: Pick<CircuitFailure, 'failure' | 'failedWith'>, untilMs: number): boolean {
    if (this.#untilMs !== 0 && !this.#isRemote) return false;
    this.#isRemote = true;
    this.#isStated = false;
    this.#failure = failure;
    this.#failedWith = failedWith;
    this.#untilMs = Math.max(this.#untilMs, untilMs);
    return true;
  }

  /**
   * Closes the circuit because another replica saw an answer. False if it was not open, or was open for a failure seen
   * here.
   */
  closeRemotely(): boolean {
    if (!this.#isRemote) return false;
    this.#isRemote = false;
    this.#failure = null;
    this.#untilMs = 0;
    this.#trialUntilMs = 0;
    return true;
  }

  failed(circuitFailure: CircuitFailure, nowMs: number): void {
    this.#consecutiveFailures++;
    this.#failures++;
    if (this.#isRemote) this.#sinceMs = nowMs;
    this.#isRemote = false;
    this.#failedAtMs = nowMs;
    const wasTried = this.#trialUntilMs !== 0;
    this.#trialUntilMs = 0;
    const statedMs = cooldownMsOf(circuitFailure);
    if (this.#untilMs > nowMs && !wasTried) {
      // Requests already running fail together and count once, but a `Retry-After` prolongs the cooldown.
      if (statedMs !== null) this.#prolong(circuitFailure, nowMs + statedMs);
      return;
    }
    const isOnTrial = this.#untilMs !== 0 || this.#consecutiveSuccesses < requiredSuccesses;
    if (isOnTrial || statedMs !== null || this.#consecutiveFailures >= circuitFailure.rule.consecutiveFailures)
      this.coolDown(circuitFailure, nowMs);
    else this.#note(circuitFailure);
  }

  coolDown(circuitFailure: CircuitFailure, nowMs: number): void {
    const { rule } = circuitFailure;
    if (this.#untilMs === 0) this.#sinceMs = nowMs;
    if (this.#untilMs === 0 && nowMs - this.#closedAtMs > resetLevelAfterMs) this.#level = 0;
    const guessMs = Math.min(rule.longestMs, rule.firstMs * 2 ** this.#level);
    if (guessMs < rule.longestMs) this.#level++;
    const statedMs = cooldownMsOf(circuitFailure);
    this.#isStated = statedMs !== null;
    this.#untilMs = nowMs + (statedMs ?? guessMs);
    this.#note(circuitFailure);
    this.#askedAtMs = nowMs;
    this.#consecutiveSuccesses = 0;
  }

  #prolong(circuitFailure: CircuitFailure, untilMs: number): void {
    if (untilMs < this.#untilMs) return;
    this.#untilMs = untilMs;
    this.#isStated = true;
    this.#note(circuitFailure);
  }

  #note({ failure, failedWith }: CircuitFailure): void {
    this.#failure = failure;
    this.#failedWith = failedWith;
  }
}

function cooldownMsOf({ rule, retryAfterMs }: CircuitFailure): number | null {
  return retryAfterMs === null || rule.longestRetryAfterMs === null
    ? null
    : Math.min(Math.max(retryAfterMs, 1), rule.longestRetryAfterMs);
}
