/**
 * Who is asked first, and with what: the port between the attempt loop and what is known of targets from earlier requests
 * (health, latency, prices, conversations). The loop asks, and reports each attempt.
 */
import type { Operation } from '../contract/capability.ts';
import type { FailureClass } from '../contract/ledger.ts';
import type { Policy } from '../contract/policy.ts';
import type { UpstreamCredential } from '../providers/upstream.ts';
import type { Target } from './snapshot.ts';

/** What of a request decides on the order. */
export interface PickRequest {
  policy: Policy;
  capability: Operation;
  /** What stays the same from turn to turn of a conversation; null if nothing does. Costs a look into the body. */
  conversation(): string | null;
}

/** How one attempt went. */
export interface AttemptReport {
  target: Target;
  credentialId: string | null;
  /** Null: it answered. */
  failure: FailureClass | null;
  /** Null if it never answered. */
  firstByteMs: number | null;
  /** What the upstream asked to be given before it is asked again. */
  retryAfterMs: number | null;
}

export interface Picker {
  /** The best first. All that may be asked at all: where every target is in bad health, the best of them is still asked. */
  order(targets: readonly Target[], request: PickRequest): readonly Target[];
  /** The best first; `null` stands for a provider that needs none. None at all: the target is not to be asked now. */
  credentials(target: Target, request: PickRequest): readonly (UpstreamCredential | null)[];
  /** False: it is asked only if nobody else can be. */
  mayBeAsked(target: Target): boolean;
  /**
   * How long one that was silent of late, and is about to be tried, is waited for before another is asked beside it; 0: it is
   * as any other. A client must not pay for a trial with the whole limit.
   */
  trialPatienceMs(target: Target, request: PickRequest): number;
  /**
   * An attempt begins, at once after it was decided on: what is to be tried by one request is not picked again meanwhile.
   * Each is reported once it has ended.
   */
  began(target: Target, credentialId: string | null): void;
  /** The first of an answer is here: it answers, however long the rest takes. */
  answers(target: Target, credentialId: string | null): void;
  report(attempt: AttemptReport): void;
}
