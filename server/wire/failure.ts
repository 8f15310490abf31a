import type { FailureClass } from '../contract/ledger.ts';

/** What kind of failure an upstream's answer, or its silence, is. */
export interface Failure {
  class: FailureClass;
  /** Whether the same target with the same credential may do better a moment later. */
  retryable: boolean;
  /** What the upstream asked to be given before it is asked again; null if it said nothing. */
  retryAfterMs: number | null;
  /** Of `too-large`: how many tokens the model takes, where the upstream says so. */
  contextTokens?: number;
  /** Of a rescue: the target said something else, but can be asked to go on from what the client has. */
  continues?: boolean;
}
