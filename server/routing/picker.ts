/**
 * The port between the attempt loop and what is known about targets from earlier requests (health, latency, prices,
 * conversations): it orders targets and credentials, and is notified of each attempt.
 */

import type { FailureClass } from '../contract/ledger.ts';
import type { Operation } from '../contract/operations.ts';
import type { Policy } from '../contract/policy.ts';
import type { UpstreamCredential } from '../providers/upstream.ts';
import type { Target } from './snapshot.ts';

/** The properties of a request that affect the order. */
export interface PickRequest {
  policy: Policy;
  capability: Operation;
  /** It may make something that is paid for; see `isPurchase`. */
  isPurchase: boolean;
  /** An identifier that is the same in all turns of a conversation; null: none. Parses the body. */
  conversation(): string | null;
  /** The origin of the conversation's newest reasoning, which only that account can read; null: none. Scans the body. */
  reasoningOrigin(): ReasoningOrigin | null;
}

export interface ReasoningOrigin {
  /** A provider's id. */
  provider: string;
  /** The provider's name for the model. */
  model: string;
  /** A credential's id; empty if the provider needs none. */
  account: string;
}

/** The outcome of an attempt. */
export interface AttemptReport {
  target: Target;
  credentialId: string | null;
  /** Null: it succeeded. */
  failure: FailureClass | null;
  /** Whether the credential may not use the model. */
  isDenied?: boolean;
  /**
   * Whether the upstream itself reported the failure. False if this machine got no response, or none in an API's
   * format.
   */
  isAnswer: boolean;
  /** Null if there was no response. */
  firstByteMs: number | null;
  /** The upstream's `Retry-After`. */
  retryAfterMs: number | null;
}

/** In their order; `null` for a provider that needs none. */
export function configuredCredentials({ provider }: Target): readonly (UpstreamCredential | null)[] {
  return provider.credentials.length === 0 ? withoutCredential : provider.credentials;
}

const withoutCredential: readonly null[] = [null];

export interface Picker {
  /** Best first. Contains all targets, including those in a cooldown. */
  order(targets: readonly Target[], request: PickRequest): readonly Target[];
  /** Best first; `null` for a provider that needs none. Empty if the target must not be asked now: all were refused. */
  credentials(target: Target, request: PickRequest): readonly (UpstreamCredential | null)[];
  /**
   * For how many milliseconds a refused credential must not be asked, if no other can answer; 0: one request may try it now. Null if
   * it was not refused.
   */
  refusedForMs(target: Target, credentialId: string | null): number | null;
  /**
   * For how many milliseconds the upstream has asked not to be asked, by each of the target's credentials or by this one; 0: it has
   * not.
   */
  heldBackForMs(target: Target, onlyCredential: string | null): number;
  /**
   * How long a request to which nothing else is left waits for the end of a cooldown; 0: there is none, null: it is not worth the
   * wait.
   */
  worthWaitingMs(target: Target, credentialId: string | null): number | null;
  /** False: only if no other target is left. */
  isAvailable(target: Target): boolean;
  /**
   * For the trial of a target that was silent: the time after which another one is asked in parallel, so that the client
   * need not wait for the whole timeout. 0: no trial.
   */
  trialPatienceMs(target: Target): number;
  /** An attempt begins; other requests then do not pick a target on trial. Must be followed by `report`. */
  began(target: Target, credentialId: string | null): void;
  /** The first content has arrived; the target counts as answering. */
  answers(target: Target, credentialId: string | null): void;
  report(attempt: AttemptReport): void;
}
