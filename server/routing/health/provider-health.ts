/** The health of a provider, its models and credentials: circuits, and measurements in which older ones count less and less. */
import type { FailureClass } from '../../contract/ledger.ts';
import type { FailedWith } from '../../contract/provider-views.ts';
import { type CooldownRule, longestGuessMs, refusedAloneMs, refusedTrialMs } from './cooldown-rules.ts';

/** The credential id of providers without credentials. */
export const noCredential = '';

const halfLifeMs = 15_000;
/** After this time a new measurement has the weight 1 - 1/e. */
const memoryMs = 30_000;
const minShare = 0.2;
/** At this error rate, over at least so many calls, something is said to fail though it is used. */
const notableErrorRate = 0.2;
const notableCalls = 3;

/** Recent calls and their failures. Times are milliseconds of a monotonic clock, here and below. */
class RecentCalls {
  #calls = 0;
  #failures = 0;
  #atMs = 0;

  count(isFailure: boolean, nowMs: number): void {
    const weight = this.#weightOfPast(nowMs);
    this.#calls = this.#calls * weight + 1;
    this.#failures = this.#failures * weight + (isFailure ? 1 : 0);
    this.#atMs = nowMs;
  }

  /** Weighted by age, so not an integer. */
  calls(nowMs: number): number {
    return this.#calls * this.#weightOfPast(nowMs);
  }

  /** 0 to 1. */
  get errorRate(): number {
    return this.#calls === 0 ? 0 : this.#failures / this.#calls;
  }

  /** As of the last call, so that it changes with calls only. */
  get isFailing(): boolean {
    return this.#calls >= notableCalls && this.errorRate >= notableErrorRate;
  }

  forget(): void {
    this.#calls = 0;
    this.#failures = 0;
  }

  #weightOfPast(nowMs: number): number {
    const ageMs = nowMs - this.#atMs;
    return ageMs <= 0 ? 1 : 2 ** (-ageMs / halfLifeMs);
  }
}

/** A moving average; the older the last measurement, the more the new one counts. */
class RecentMean {
  #mean: number | null = null;
  #atMs = 0;

  get value(): number | null {
    return this.#mean;
  }

  /** Time of the last measurement. */
  get atMs(): number {
    return this.#atMs;
  }

  add(value: number, nowMs: number): void {
    const share = this.#mean === null ? 1 : Math.max(minShare, 1 - Math.exp((this.#atMs - nowMs) / memoryMs));
    this.#mean = (this.#mean ?? 0) * (1 - share) + value * share;
    this.#atMs = nowMs;
  }
}

/** The health of one upstream model of a provider. */
export class TargetHealth {
  readonly circuit = new Circuit();
  readonly calls = new RecentCalls();
  readonly firstByteMs = new RecentMean();
  /** Its last answer to a request or a test; 0: none. */
  answeredAtMs = 0;
  /** No request is spent on measuring it before this time. */
  measureAgainAtMs = 0;
  /** By credential id; only those with failures for this model. */
  readonly atCredential = new Map<string, Circuit>();

  get isTrusted(): boolean {
    return this.circuit.isTrusted && this.atCredential.size === 0;
  }
}

/** Clients choose model names, so the number of targets must be bounded. */
const maxTargets = 200;

/** That the list of models could not be had because of the network or the credential. */
export interface UnansweredList {
  failure: FailureClass;
  failedWith: FailedWith;
  atMs: number;
}

export class ProviderHealth {
  /** Until the provider answers anything. */
  unansweredList: UnansweredList | null = null;
  /** By upstream model. */
  readonly targets = new Map<string | null, TargetHealth>();
  /** By id; only those with failures. */
  readonly credentials = new Map<string, Circuit>();

  /** Created on first use; beyond `maxTargets` it replaces a healthy one. */
  target(model: string | null): TargetHealth {
    const existing = this.targets.get(model);
    if (existing) return existing;
    if (this.targets.size >= maxTargets) this.targets.delete(this.#leastWanted());
    const target = new TargetHealth();
    this.targets.set(model, target);
    return target;
  }

  /** The existing circuits that an attempt concerns. */
  troubles(target: TargetHealth | undefined, credentialId: string): Circuit[] {
    const circuits = [target?.circuit, target?.atCredential.get(credentialId), this.credentials.get(credentialId)];
    return circuits.filter((circuit) => circuit !== undefined);
  }

  /** End of a credential's cooldowns, in general and for this model; 0: none. */
  credentialUntilMs(model: string | null, credentialId: string): number {
    const everywhere = this.credentials.get(credentialId)?.untilMs ?? 0;
    return Math.max(everywhere, this.targets.get(model)?.atCredential.get(credentialId)?.untilMs ?? 0);
  }

  /** Whether a person has to replace it. */
  isRefused(credentialId: string): boolean {
    return this.credentials.get(credentialId)?.isRefused === true;
  }

  /** See `Picker.refusedForMs`. */
  refusedForMs(credentialId: string, nowMs: number): number | null {
    const circuit = this.credentials.get(credentialId);
    return circuit?.isRefused ? circuit.refusedForMs(nowMs) : null;
  }

  /** How long the upstream has asked not to be asked with this credential for this model; 0: it has not. */
  heldBackForMs(model: string | null, credentialId: string, nowMs: number): number {
    const everywhere = this.credentials.get(credentialId)?.heldBackForMs(nowMs) ?? 0;
    return Math.max(everywhere, this.targets.get(model)?.atCredential.get(credentialId)?.heldBackForMs(nowMs) ?? 0);
  }

  /** Whether credentials have to be checked one by one. */
  hasTroubledCredential(model: string | null): boolean {
    return this.credentials.size > 0 || (this.targets.get(model)?.atCredential.size ?? 0) > 0;
  }

  /** Considers the credential only, not the target's own circuit. */
  isAvailable(model: string | null, credentialId: string, nowMs: number): boolean {
    const ofCredential = this.credentials.get(credentialId);
    if (ofCredential && !ofCredential.isAvailable(nowMs)) return false;
    return this.targets.get(model)?.atCredential.get(credentialId)?.isAvailable(nowMs) ?? true;
  }

  /** All circuits. */
  *circuits(): Generator<Circuit> {
    yield* this.credentials.values();
    for (const { circuit, atCredential } of this.targets.values()) {
      yield circuit;
      yield* atCredential.values();
    }
  }

  circuitsOf(credentialId: string): Circuit[] {
    const atTargets = [...this.targets.values()].map(({ atCredential }) => atCredential.get(credentialId));
    return [this.credentials.get(credentialId), ...atTargets].filter((circuit) => circuit !== undefined);
  }

  forgetCredential(id: string): void {
    if (this.unansweredList?.failure === 'credential') this.unansweredList = null;
    this.credentials.delete(id);
    for (const { atCredential } of this.targets.values()) atCredential.delete(id);
  }

  /** Drops circuits that have fully recovered. */
  forgetTrusted(target: TargetHealth, credentialId: string): void {
    for (const circuits of [this.credentials, target.atCredential])
      if (circuits.get(credentialId)?.isTrusted) circuits.delete(credentialId);
  }

  #leastWanted(): string | null {
    for (const [model, target] of this.targets) if (target.isTrusted) return model;
    const [oldest = null] = this.targets.keys();
    return oldest;
  }
}

/** Created on first use. */
export function circuitOf(circuits: Map<string, Circuit>, id: string): Circuit {
  const existing = circuits.get(id);
  if (existing) return existing;
  const circuit = new Circuit();
  circuits.set(id, circuit);
  return circuit;
}

// A circuit breaker for a target or credential. Closed: it is used. Open: it is in a cooldown. After the cooldown one
// request at a time tries it (half-open), and its result closes the circuit or begins the next cooldown. All times are passed
// in, as milliseconds of a monotonic clock.

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
