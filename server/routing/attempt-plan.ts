/**
 * Decides which attempt comes next within one request. Owns the request's retry budget (attempts and deadline) and what
 * the request has learnt about its targets; does not know how an attempt is made. No I/O; clock and randomness are
 * passed in.
 */
import { endsAllAttempts, type Failure } from '../apis/core/errors/verdict.ts';
import type { AttemptCause } from '../contract/ledger.ts';
import { isSameModel } from '../contract/model-identity.ts';
import type { Policy } from '../contract/policy.ts';
import type { UpstreamCredential } from '../providers/upstream.ts';
import { configuredCredentials, type Picker, type PickRequest } from './picker.ts';
import type { Target } from './snapshot.ts';

export interface NextAttempt {
  target: Target;
  credential: UpstreamCredential | null;
  cause: AttemptCause;
  /** The delay before it begins. */
  waitMs: number;
}

interface Hedging {
  /** After this time without content a second target is asked in parallel; 0: never. */
  hedgeAfterMs: number;
  /** The target is in a cooldown for silence, and this request is its trial. */
  isTrial: boolean;
}

interface PlanOptions {
  /** All that can serve the request; the picker orders them. */
  targets: readonly Target[];
  policy: Policy;
  picker: Picker;
  request: PickRequest;
  /** The only credential to use (the one that owns the job); null: any. */
  credentialId: string | null;
  /** Milliseconds of a monotonic clock. */
  now(): number;
  random(): number;
}

/** Why a target is not asked, and the time until a request may try it. */
interface Refusal {
  /** `credential`: it was refused; `limit`: the upstream has told when to come again. */
  reason: 'credential' | 'limit';
  target: Target;
  waitMs: number;
}

/** Each of them is another one. */
const maxMembersRefused = 3;
/** The longest `Retry-After` to wait for while another target is left. */
const shortWaitMs = 2_000;
/** The longest `Retry-After` to wait for when no other target is left. */
const longWaitMs = 10_000;
/** Upper bound of the first backoff; it doubles with each retry. */
const firstBackoffMs = 250;
const longestBackoffMs = 4_000;

export class AttemptPlan {
  readonly #options: PlanOptions;
  readonly #waitingTargets: Target[];
  readonly #askedTargets: AskedTarget[] = [];
  #deadlineMs: number;
  #retriesLeft: number;
  #fallbacksLeft: number;
  #retriesMade = 0;
  #refusal: Refusal | null = null;
  #hadMalformedCall = false;
  /** Created once the request was too long for a target. */
  #contexts: ContextLimits | undefined;

  constructor(options: PlanOptions) {
    this.#options = options;
    this.#waitingTargets = [...options.picker.order(options.targets, options.request)];
    this.#deadlineMs = options.now() + options.policy.budgetMs;
    this.#retriesLeft = options.policy.retries;
    this.#fallbacksLeft = options.policy.fallbacks;
  }

  /**
   * If all targets are in a cooldown, the best is asked nevertheless. Null if there is none, if all their credentials were refused
   * a moment ago, or if all have asked to be left alone for a while: see `refusal`.
   */
  first(): NextAttempt | null {
    return this.#startAnother('first') ?? this.#tryHeldBack() ?? this.#tryRefused();
  }

  /** Why nothing is asked although there are targets; null otherwise. */
  get refusal(): Refusal | null {
    return this.#refusal;
  }

  /**
   * The attempt after `failedAttempt`; null if there is none. A target that refuses the reasoning in the conversation, the time of a
   * signature, or a member that Sluice has added, is asked again at once, which does not count as a retry.
   */
  after(failedAttempt: NextAttempt, failure: Failure): NextAttempt | null {
    this.note(failedAttempt, failure);
    if (failure.isClockCorrected) return { ...failedAttempt, cause: 'retry', waitMs: 0 };
    const askedTarget = this.#askedOf(failedAttempt.target);
    if (failure.refusesReasoning && askedTarget && !askedTarget.isReasonless) {
      askedTarget.isReasonless = true;
      return { ...failedAttempt, cause: 'retry', waitMs: 0 };
    }
    if (failure.refusesMember && askedTarget && askedTarget.membersRefused < maxMembersRefused) {
      askedTarget.membersRefused++;
      return { ...failedAttempt, cause: 'retry', waitMs: 0 };
    }
    if (failure.isMalformedCall) return this.#afterMalformedCall(failedAttempt);
    const isFinal = failure.class === 'rejected' && failure.isOnlyHere !== true;
    if (isFinal || failure.isSpent || endsAllAttempts(failure)) return null;
    if (failure.isLost && this.#isAtMostOnce) return null;
    // A new connection is no reason to wait.
    if (failure.isStale && failure.retryable && askedTarget && this.#mayRetry())
      return this.#retry(askedTarget, 'retry', 0);
    return this.#retrySame(failedAttempt, failure) ?? this.anotherTarget('fallback') ?? this.#retryAny('retry');
  }

  /** Each such answer is paid for, so the model is asked once more at most, whatever `retries` says. */
  #afterMalformedCall(failedAttempt: NextAttempt): NextAttempt | null {
    if (this.#hadMalformedCall) return null;
    this.#hadMalformedCall = true;
    return { ...failedAttempt, cause: 'retry', waitMs: 0 };
  }

  /** A stream was interrupted after its beginning had reached the client. The time it streamed does not count against the budget. */
  streamInterrupted({ target }: NextAttempt): void {
    this.#deadlineMs = this.#options.now() + this.#options.policy.budgetMs;
    const askedTarget = this.#askedOf(target);
    if (askedTarget) askedTarget.isLastResort = false;
  }

  /** The attempt that continues a broken stream: another target, if there is one. */
  rescue(failedAttempt: NextAttempt, failure: Failure): NextAttempt | null {
    this.note(failedAttempt, failure);
    if (this.#isAtMostOnce || endsAllAttempts(failure)) return null;
    const askedTarget = this.#askedOf(failedAttempt.target);
    if (failure.continues && askedTarget && this.#mayRetry()) return this.#retry(askedTarget, 'rescue', 0);
    return this.anotherTarget('rescue') ?? this.#retryAny('rescue');
  }

  /** Another target. The first one is asked even after the deadline, since a single silence may outlast it. */
  anotherTarget(cause: AttemptCause): NextAttempt | null {
    const isFirst = this.#fallbacksLeft === this.#options.policy.fallbacks;
    if (this.#fallbacksLeft === 0 || (this.#isOver() && !isFirst)) return null;
    const next = this.#startAnother(cause);
    if (next) this.#fallbacksLeft--;
    return next;
  }

  /** Whether another target will be left after a silence of `afterMs` from now. */
  leavesAnother(afterMs: number): boolean {
    const { policy, picker, now } = this.#options;
    // After a silence, what was asked for may exist already.
    if (this.#isAtMostOnce) return false;
    const isFirst = this.#fallbacksLeft === policy.fallbacks;
    const isInTime = isFirst || now() + afterMs < this.#deadlineMs;
    return (
      this.#fallbacksLeft > 0 &&
      isInTime &&
      this.#waitingTargets.some((target) => this.#isOpen(target) && picker.isAvailable(target))
    );
  }

  /** Hedging of an attempt that is about to begin. */
  hedgingFor({ target }: NextAttempt): Hedging {
    const { policy, picker, request } = this.#options;
    // A parallel attempt would buy a second one.
    if (request.isPurchase) return { hedgeAfterMs: 0, isTrial: false };
    const trialMs = picker.trialPatienceMs(target);
    const isHedged = policy.hedgeAfterMs > 0 && (trialMs === 0 || policy.hedgeAfterMs < trialMs);
    return { hedgeAfterMs: isHedged ? policy.hedgeAfterMs : trialMs, isTrial: trialMs > 0 };
  }

  /** Records a failed attempt. */
  note({ target, credential }: NextAttempt, failure: Failure): void {
    const askedTarget = this.#askedOf(target);
    if (!askedTarget) return;
    const waitMs = failure.retryAfterMs ?? this.#options.picker.worthWaitingMs(target, credential?.id ?? null);
    // A target that has been in a cooldown for long is asked only once, unless it states when to retry.
    askedTarget.retryable = failure.retryable && (!askedTarget.isLastResort || waitMs !== null);
    askedTarget.readyAtMs = this.#options.now() + (waitMs ?? 0);
    const isTargetFailure = failure.class === 'silent' || (failure.class === 'model-unavailable' && !failure.isDenied);
    if (isTargetFailure) askedTarget.unused = [];
    if (failure.class === 'too-large') {
      askedTarget.unused = [];
      this.#contexts ??= new ContextLimits();
      this.#contexts.wasTooSmall(target, failure.contextTokens);
    }
  }

  /** A purchase that may have been made is not made again. */
  get #isAtMostOnce(): boolean {
    return this.#options.request.isPurchase && !this.#options.policy.retryLostJobs;
  }

  #isOver(): boolean {
    return this.#options.now() >= this.#deadlineMs;
  }

  #mayRetry(): boolean {
    return this.#retriesLeft > 0 && !this.#isOver();
  }

  /** The same target again: with another credential at once, or with the same one if that may help soon. */
  #retrySame({ target }: NextAttempt, failure: Failure): NextAttempt | null {
    const askedTarget = this.#askedOf(target);
    if (!askedTarget || !this.#mayRetry()) return null;
    if (isAccountFailure(failure) && askedTarget.unused.length > 0) {
      askedTarget.credential = askedTarget.unused.shift() ?? null;
      askedTarget.uses = 0;
      return this.#retry(askedTarget, 'retry', 0);
    }
    // While another target is left, a rate limit without `Retry-After` is not waited for.
    const mayWait = failure.class !== 'rate-limit' || failure.retryAfterMs !== null;
    const isWorthRetrying = askedTarget.retryable && mayWait && !wasRetried(askedTarget);
    // A target in a cooldown is not retried, unless it states when to retry.
    const isLeftAlone = failure.retryAfterMs === null && !this.#options.picker.isAvailable(target);
    return isWorthRetrying && !isLeftAlone && this.#hasFurther()
      ? this.#retryWithin(askedTarget, 'retry', shortWaitMs)
      : null;
  }

  /** No other target is left: retries a target already asked, preferring one without a retry so far, then the one ready first. */
  #retryAny(cause: AttemptCause): NextAttempt | null {
    if (!this.#mayRetry()) return null;
    const retryableTargets = this.#askedTargets.filter(({ retryable }) => retryable).reverse();
    retryableTargets.sort((a, b) => Number(wasRetried(a)) - Number(wasRetried(b)) || a.readyAtMs - b.readyAtMs);
    for (const askedTarget of retryableTargets) {
      const next = this.#retryWithin(askedTarget, cause, longWaitMs);
      if (next) return next;
    }
    return null;
  }

  #retryWithin(askedTarget: AskedTarget, cause: AttemptCause, limitMs: number): NextAttempt | null {
    const nowMs = this.#options.now();
    const readyInMs = askedTarget.readyAtMs - nowMs;
    if (readyInMs > limitMs) return null;
    const waitMs = Math.max(readyInMs, this.#backoffMs());
    return nowMs + waitMs < this.#deadlineMs ? this.#retry(askedTarget, cause, waitMs) : null;
  }

  #retry(askedTarget: AskedTarget, cause: AttemptCause, waitMs: number): NextAttempt {
    this.#retriesLeft--;
    this.#retriesMade++;
    askedTarget.uses++;
    return { target: askedTarget.target, credential: askedTarget.credential, cause, waitMs };
  }

  #askedOf(target: Target): AskedTarget | undefined {
    return this.#askedTargets.find((askedTarget) => askedTarget.target === target);
  }

  /** A random delay up to a bound that doubles with each retry. */
  #backoffMs(): number {
    return this.#options.random() * Math.min(longestBackoffMs, firstBackoffMs * 2 ** this.#retriesMade);
  }

  #hasFurther(): boolean {
    return this.#fallbacksLeft > 0 && this.#waitingTargets.some((target) => this.#isOpen(target));
  }

  #startAnother(cause: AttemptCause): NextAttempt | null {
    for (const target of this.#waitingTargets) {
      const credentials = this.#contexts?.mayTake(target) === false ? noCredentials : this.#credentials(target);
      if (credentials.length === 0 || (cause === 'hedge' && this.#heldBackForMs(target) > 0)) continue;
      this.#waitingTargets.splice(this.#waitingTargets.indexOf(target), 1);
      this.#contexts?.asked(target);
      return this.#begin(target, credentials, cause);
    }
    return null;
  }

  /** A target that has told when to come again, if that is soon; the others are left alone. */
  #tryHeldBack(): NextAttempt | null {
    let soonest: Refusal | null = null;
    for (const target of this.#waitingTargets) {
      const waitMs = this.#heldBackForMs(target);
      if (waitMs > 0 && (!soonest || waitMs < soonest.waitMs)) soonest = { reason: 'limit', target, waitMs };
    }
    if (!soonest) return null;
    const { target, waitMs } = soonest;
    if (waitMs > longWaitMs || waitMs >= this.#options.policy.budgetMs) {
      this.#refusal = soonest;
      return null;
    }
    this.#waitingTargets.splice(this.#waitingTargets.indexOf(target), 1);
    return this.#begin(target, this.#usableCredentials(target), 'first');
  }

  /** A refused credential that one request may try, since nothing else can answer. */
  #tryRefused(): NextAttempt | null {
    const { picker } = this.#options;
    for (const target of this.#waitingTargets) {
      if (this.#heldBackForMs(target) > 0) continue;
      for (const credential of this.#configuredCredentials(target)) {
        const waitMs = picker.refusedForMs(target, credential?.id ?? null) ?? 0;
        if (waitMs > 0) {
          if (!this.#refusal || waitMs < this.#refusal.waitMs) this.#refusal = { reason: 'credential', target, waitMs };
          continue;
        }
        this.#waitingTargets.splice(this.#waitingTargets.indexOf(target), 1);
        return this.#begin(target, [credential], 'first');
      }
    }
    return null;
  }

  #isOpen(target: Target): boolean {
    return this.#contexts?.mayTake(target) !== false && this.#credentials(target).length > 0;
  }

  #begin(target: Target, credentials: readonly (UpstreamCredential | null)[], cause: AttemptCause): NextAttempt {
    const credential = credentials[0] ?? null;
    this.#askedTargets.push({
      target,
      unused: credentials.slice(1),
      credential,
      uses: 1,
      retryable: false,
      isReasonless: false,
      membersRefused: 0,
      isLastResort: !this.#options.picker.isAvailable(target),
      readyAtMs: 0,
    });
    return { target, credential, cause, waitMs: this.#heldBackForMs(target) };
  }

  #heldBackForMs(target: Target): number {
    return this.#options.picker.heldBackForMs(target, this.#pinnedCredential(target)?.id ?? null);
  }

  /** Empty if the target must not be asked now. */
  #credentials(target: Target): readonly (UpstreamCredential | null)[] {
    return this.#heldBackForMs(target) > shortWaitMs ? noCredentials : this.#usableCredentials(target);
  }

  #usableCredentials(target: Target): readonly (UpstreamCredential | null)[] {
    const pinnedCredential = this.#pinnedCredential(target);
    const { picker, request, credentialId } = this.#options;
    if (pinnedCredential)
      return picker.refusedForMs(target, pinnedCredential.id) === null ? [pinnedCredential] : noCredentials;
    const usable = picker.credentials(target, request);
    // The job's credential was removed; the first one may belong to the same account.
    return credentialId === null ? usable : usable.slice(0, 1);
  }

  #configuredCredentials(target: Target): readonly (UpstreamCredential | null)[] {
    const pinnedCredential = this.#pinnedCredential(target);
    return pinnedCredential ? [pinnedCredential] : configuredCredentials(target);
  }

  #pinnedCredential({ provider }: Target): UpstreamCredential | undefined {
    const { credentialId } = this.#options;
    if (credentialId === null) return undefined;
    return provider.credentials.find(({ id }) => id === credentialId);
  }
}

const noCredentials: readonly never[] = [];

/** Attempts at a target with the same credential while another target is left. */
const attemptsBeforeFallback = 2;

interface AskedTarget {
  target: Target;
  /** Credentials not used yet, best first. */
  unused: (UpstreamCredential | null)[];
  /** The credential of the latest attempt, and how often it was used. */
  credential: UpstreamCredential | null;
  uses: number;
  /** Whether another attempt may succeed. */
  retryable: boolean;
  /** It refused the reasoning in the conversation, and was asked again without it. */
  isReasonless: boolean;
  /** How often it refused a member that Sluice had written, and was asked again without it. */
  membersRefused: number;
  /** It was already in a cooldown and is asked only because no other target is left. */
  isLastResort: boolean;
  /** The earliest time for another attempt. */
  readyAtMs: number;
}

/** Another credential of the provider may succeed at once. */
function isAccountFailure({ class: failure, isDenied }: Failure): boolean {
  return failure === 'rate-limit' || failure === 'quota' || failure === 'credential' || isDenied === true;
}

function wasRetried({ uses }: AskedTarget): boolean {
  return uses >= attemptsBeforeFallback;
}

interface TooSmall {
  model: string | null;
  /** Its context window; undefined: unknown. */
  tokens: number | undefined;
}

/**
 * Decides which targets may be asked after a request was too long for another one: all with a known larger context
 * window, and one with an unknown one, but never the same model again.
 */
class ContextLimits {
  readonly #tooSmall: TooSmall[] = [];
  #mayGuess = true;

  /** `statedTokens`: the limit named in the upstream's error. */
  wasTooSmall(target: Target, toldTokens: number | undefined): void {
    this.#tooSmall.push({ model: target.model, tokens: toldTokens ?? contextOf(target) });
  }

  mayTake(target: Target): boolean {
    return this.#tooSmall.length === 0 || this.#isLarger(target) || (this.#mayGuess && this.#mayBeLarger(target));
  }

  /** This target is asked. */
  asked(target: Target): void {
    if (this.#tooSmall.length > 0 && !this.#isLarger(target)) this.#mayGuess = false;
  }

  #isLarger(target: Target): boolean {
    const context = contextOf(target) ?? 0;
    const knownTokens = this.#tooSmall.flatMap(({ tokens }) => tokens ?? []);
    return knownTokens.length > 0 && knownTokens.every((tokens) => context > tokens);
  }

  #mayBeLarger(target: Target): boolean {
    const context = contextOf(target) ?? Number.POSITIVE_INFINITY;
    return this.#tooSmall.every(({ model, tokens }) => !isSameModel(model, target.model) && context > (tokens ?? 0));
  }
}

/** The target's context window, as configured or as listed by the provider. */
export function contextOf({ provider, model, contextTokens }: Target): number | undefined {
  const modelContext = model === null ? undefined : provider.models.get(model)?.contextTokens;
  return contextTokens ?? provider.contextTokens ?? modelContext;
}
