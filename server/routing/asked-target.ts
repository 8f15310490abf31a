/** What one request has learnt about a target that it asked. */

import type { Failure } from '../apis/core/failure.ts';
import type { UpstreamCredential } from '../providers/upstream.ts';
import type { Target } from './snapshot.ts';

/** Attempts at a target with the same credential while another target is left. */
const attemptsBeforeFallback = 2;

export interface AskedTarget {
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
export function isAccountFailure({ class: failure, isDenied }: Failure): boolean {
  return failure === 'rate-limit' || failure === 'quota' || failure === 'credential' || isDenied === true;
}

export function wasRetried({ uses }: AskedTarget): boolean {
  return uses >= attemptsBeforeFallback;
}
