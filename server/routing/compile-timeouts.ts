/** The timeouts of an attempt, from the configuration and from whether another target is left. */
import { defaultTimeouts, type Timeouts } from '../contract/policy.ts';

export interface AttemptTimeouts extends Timeouts {
  /** How long an answer that has begun may go without content, while comments and the like keep arriving. */
  progressMs: number;
}

export interface TargetTimeouts {
  /** No other target is left. */
  last: AttemptTimeouts;
  /** Another target is left. */
  stream: AttemptTimeouts;
  whole: AttemptTimeouts;
}

/** OpenAI's SDKs give up after 600 s themselves, so a fallback must begin much earlier. */
const streamPatienceMs = 60_000;
const wholePatienceMs = 120_000;

/** `configured`: the timeouts of group and provider, which override all defaults. */
export function compileTimeouts(configured: Partial<Timeouts>): TargetTimeouts {
  const timeouts = { ...defaultTimeouts, ...configured };
  const last = { ...timeouts, progressMs: Math.max(timeouts.firstContentMs, timeouts.idleMs) };
  const withPatience = (patienceMs: number): AttemptTimeouts => {
    const { firstByteMs, firstContentMs } = configured;
    // If only one of the two is configured, and longer, the other follows it.
    const otherwiseMs = Math.max(patienceMs, firstByteMs ?? 0, firstContentMs ?? 0);
    return { ...last, firstByteMs: firstByteMs ?? otherwiseMs, firstContentMs: firstContentMs ?? otherwiseMs };
  };
  return { last, stream: withPatience(streamPatienceMs), whole: withPatience(wholePatienceMs) };
}

interface PlannedTargets {
  /** Whether another target can still be asked after an attempt that takes this long. */
  leavesAnother(patienceMs: number): boolean;
}

/** While another target is left, the limits are shorter than those of the client. */
export function timeoutsOf(limits: TargetTimeouts, isStream: boolean, plan: PlannedTargets): AttemptTimeouts {
  const early = isStream ? limits.stream : limits.whole;
  return plan.leavesAnother(Math.max(early.firstByteMs, early.firstContentMs)) ? early : limits.last;
}
