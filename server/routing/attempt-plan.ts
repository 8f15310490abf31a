/**
 * Which attempt comes next, within one request: the one predicate of the attempt loop. Owns the budget (how many attempts,
 * until when) and what the request has learnt of its targets; must not know how an attempt is made. No I/O; the clock and
 * chance are given.
 */
import type { AttemptCause } from '../contract/ledger.ts';
import type { Policy } from '../contract/policy.ts';
import type { UpstreamCredential } from '../providers/upstream.ts';
import type { Failure } from '../wire/failure.ts';
import { ContextRoom } from './context-room.ts';
import type { Picker, PickRequest } from './picker.ts';
import type { Target } from './snapshot.ts';

export interface NextAttempt {
  target: Target;
  credential: UpstreamCredential | null;
  cause: AttemptCause;
  /** To be waited before it begins. */
  waitMs: number;
}

interface Patience {
  /** After so long a silence another is asked beside it; 0: never. */
  hedgeAfterMs: number;
  /** It was silent of late, so that whether it answers is news. */
  isTrial: boolean;
}

interface PlanOptions {
  /** All that can serve the request; the picker orders them. */
  targets: readonly Target[];
  policy: Policy;
  picker: Picker;
  request: PickRequest;
  /** Only this credential will do (a job's owner). */
  credentialId: string | null;
  /** Milliseconds on a clock that never goes back. */
  now(): number;
  random(): number;
}

/** As long as somebody else could be asked at once, a told wait is worth waiting for up to this. */
const shortWaitMs = 2_000;
/** Where nobody else is left, up to this. */
const longWaitMs = 10_000;
/** While there is another target, one is asked this often with the same credential. */
const attemptsBeforeFallback = 2;
/** Of the backoff: 250 ms, then twice as much each time. */
const firstBackoffMs = 250;
const longestBackoffMs = 4_000;

/** What the request knows of a target that it has asked. */
interface AskedTarget {
  target: Target;
  /** Not asked yet, the best first. */
  unused: (UpstreamCredential | null)[];
  /** The one of the latest attempt, and how often it was used. */
  credential: UpstreamCredential | null;
  uses: number;
  /** It may do better a moment later. */
  mayPass: boolean;
  /** It was in bad health already when it was asked, since nobody else was left. */
  isLastResort: boolean;
  /** Not before this moment. */
  readyAtMs: number;
}

export class AttemptPlan {
  readonly #options: PlanOptions;
  readonly #waiting: Target[];
  readonly #asked = new Map<Target, AskedTarget>();
  #deadlineMs: number;
  #retriesLeft: number;
  #fallbacksLeft: number;
  #retriesMade = 0;
  readonly #contexts = new ContextRoom();

  constructor(options: PlanOptions) {
    this.#options = options;
    this.#waiting = [...options.picker.order(options.targets, options.request)];
    this.#deadlineMs = options.now() + options.policy.budgetMs;
    this.#retriesLeft = options.policy.retries;
    this.#fallbacksLeft = options.policy.fallbacks;
  }

  /** Null only if there is no target at all: in need the best is asked although the picker would rather not. */
  first(): NextAttempt | null {
    const best = this.#waiting[0];
    const next = this.#open('first');
    if (next || !best) return next;
    this.#waiting.splice(this.#waiting.indexOf(best), 1);
    return this.#begin(best, [this.#pinned(best) ?? best.provider.credentials[0] ?? null], 'first');
  }

  /** Who is asked after `failed`; null if the request ends with that. */
  after(failed: NextAttempt, failure: Failure): NextAttempt | null {
    this.note(failed, failure);
    if (failure.class === 'rejected' || failure.class === 'client-gone') return null;
    return this.#here(failed, failure) ?? this.further('fallback') ?? this.#anyAgain('retry');
  }

  /** A reply broke when its beginning had reached the client. Time in which an answer flowed is none of the budget. */
  brokeOff({ target }: NextAttempt): void {
    this.#deadlineMs = this.#options.now() + this.#options.policy.budgetMs;
    const asked = this.#asked.get(target);
    if (asked) asked.isLastResort = false;
  }

  /** After a reply that broke off: another target first. */
  rescue(failed: NextAttempt, failure: Failure): NextAttempt | null {
    this.note(failed, failure);
    const asked = this.#asked.get(failed.target);
    if (failure.continues && asked && this.#mayRetry()) return this.#again(asked, 'rescue', 0);
    return this.further('rescue') ?? this.#anyAgain('rescue');
  }

  /** Another target, beside or after those that were asked. The first of them however late: one silence may outlast the budget. */
  further(cause: AttemptCause): NextAttempt | null {
    const isFirst = this.#fallbacksLeft === this.#options.policy.fallbacks;
    if (this.#fallbacksLeft === 0 || (this.#isOver() && !isFirst)) return null;
    const next = this.#open(cause);
    if (next) this.#fallbacksLeft--;
    return next;
  }

  /** Whether there will be another target to ask once the one that begins now has been silent for so long. */
  leavesAnother(afterMs: number): boolean {
    const { policy, picker, now } = this.#options;
    const isFirst = this.#fallbacksLeft === policy.fallbacks;
    const isInTime = isFirst || now() + afterMs < this.#deadlineMs;
    return (
      this.#fallbacksLeft > 0 && isInTime && this.#waiting.some((one) => this.#isOpen(one) && picker.mayBeAsked(one))
    );
  }

  /** Of one that is about to begin. */
  patienceWith({ target }: NextAttempt): Patience {
    const { policy, picker, request } = this.#options;
    const trialMs = picker.trialPatienceMs(target, request);
    const isHedged = policy.hedgeAfterMs > 0 && (trialMs === 0 || policy.hedgeAfterMs < trialMs);
    return { hedgeAfterMs: isHedged ? policy.hedgeAfterMs : trialMs, isTrial: trialMs > 0 };
  }

  /** Learns from an attempt that failed. */
  note({ target }: NextAttempt, failure: Failure): void {
    const asked = this.#asked.get(target);
    if (!asked) return;
    // It fails time and again, in other requests too: once is enough. What is told is known better.
    asked.mayPass = failure.mayPass && (!asked.isLastResort || failure.retryAfterMs !== null);
    asked.readyAtMs = this.#options.now() + (failure.retryAfterMs ?? 0);
    const isTargetsOwn = failure.class === 'silent' || failure.class === 'model-unavailable';
    if (isTargetsOwn) asked.unused = [];
    if (failure.class === 'too-large') {
      asked.unused = [];
      this.#contexts.wasTooSmall(target, failure.contextTokens);
    }
  }

  #isOver(): boolean {
    return this.#options.now() >= this.#deadlineMs;
  }

  #mayRetry(): boolean {
    return this.#retriesLeft > 0 && !this.#isOver();
  }

  /** The same target once more: with another credential at once, or with the same one where that may help soon. */
  #here({ target }: NextAttempt, failure: Failure): NextAttempt | null {
    const asked = this.#asked.get(target);
    if (!asked || !this.#mayRetry()) return null;
    const isAccounts = failure.class === 'rate-limit' || failure.class === 'quota' || failure.class === 'credential';
    if (isAccounts && asked.unused.length > 0) {
      asked.credential = asked.unused.shift() ?? null;
      asked.uses = 0;
      return this.#again(asked, 'retry', 0);
    }
    // A rate limit that says nothing of when it ends is left alone for as long as somebody else can be asked.
    const hasTold = failure.class !== 'rate-limit' || failure.retryAfterMs !== null;
    const isWorthIt = asked.mayPass && hasTold && !hadItsRetry(asked);
    // It fails time and again, in other requests too. What is told is known better.
    const isLeftAlone = failure.retryAfterMs === null && !this.#options.picker.mayBeAsked(target);
    return isWorthIt && !isLeftAlone && this.#hasFurther() ? this.#againWithin(asked, 'retry', shortWaitMs) : null;
  }

  /**
   * Nobody else is left: of those that were asked and may do better, one that was not asked again yet, and of several the
   * one that is ready first.
   */
  #anyAgain(cause: AttemptCause): NextAttempt | null {
    if (!this.#mayRetry()) return null;
    const able = [...this.#asked.values()].filter(({ mayPass }) => mayPass).reverse();
    able.sort((a, b) => Number(hadItsRetry(a)) - Number(hadItsRetry(b)) || a.readyAtMs - b.readyAtMs);
    for (const asked of able) {
      const next = this.#againWithin(asked, cause, longWaitMs);
      if (next) return next;
    }
    return null;
  }

  #againWithin(asked: AskedTarget, cause: AttemptCause, limitMs: number): NextAttempt | null {
    const nowMs = this.#options.now();
    const toldMs = asked.readyAtMs - nowMs;
    if (toldMs > limitMs) return null;
    const waitMs = Math.max(toldMs, this.#backoffMs());
    return nowMs + waitMs < this.#deadlineMs ? this.#again(asked, cause, waitMs) : null;
  }

  #again(asked: AskedTarget, cause: AttemptCause, waitMs: number): NextAttempt {
    this.#retriesLeft--;
    this.#retriesMade++;
    asked.uses++;
    return { target: asked.target, credential: asked.credential, cause, waitMs };
  }

  /** Full jitter: anything from nothing to a bound that doubles. */
  #backoffMs(): number {
    return this.#options.random() * Math.min(longestBackoffMs, firstBackoffMs * 2 ** this.#retriesMade);
  }

  #hasFurther(): boolean {
    return this.#fallbacksLeft > 0 && this.#waiting.some((target) => this.#isOpen(target));
  }

  #open(cause: AttemptCause): NextAttempt | null {
    const index = this.#waiting.findIndex((target) => this.#isOpen(target));
    const [target] = index === -1 ? [] : this.#waiting.splice(index, 1);
    if (target) this.#contexts.asked(target);
    return target ? this.#begin(target, this.#credentials(target), cause) : null;
  }

  #isOpen(target: Target): boolean {
    return this.#contexts.mayTake(target) && this.#credentials(target).length > 0;
  }

  #begin(target: Target, credentials: readonly (UpstreamCredential | null)[], cause: AttemptCause): NextAttempt {
    const [credential = null, ...unused] = credentials;
    const isLastResort = !this.#options.picker.mayBeAsked(target);
    this.#asked.set(target, { target, unused, credential, uses: 1, mayPass: false, isLastResort, readyAtMs: 0 });
    return { target, credential, cause, waitMs: 0 };
  }

  #credentials(target: Target): readonly (UpstreamCredential | null)[] {
    const pinned = this.#pinned(target);
    if (pinned) return [pinned];
    const { picker, request, credentialId } = this.#options;
    const usable = picker.credentials(target, request);
    // The job's own credential is gone: its account may still be that of the first.
    return credentialId === null ? usable : usable.slice(0, 1);
  }

  #pinned({ provider }: Target): UpstreamCredential | undefined {
    const { credentialId } = this.#options;
    if (credentialId === null) return undefined;
    return provider.credentials.find(({ id }) => id === credentialId);
  }
}

function hadItsRetry({ uses }: AskedTarget): boolean {
  return uses >= attemptsBeforeFallback;
}
