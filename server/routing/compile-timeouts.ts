/** How long each phase of an attempt may take, by what is configured and by whether anybody else could be asked instead. */
import { defaultTimeouts, type Timeouts } from '../contract/policy.ts';

export interface AttemptTimeouts extends Timeouts {
  /** How long signs of life alone keep an answer that has begun. */
  progressMs: number;
}

export interface TargetTimeouts {
  /** Nobody else can be asked. */
  last: AttemptTimeouts;
  /** Another target is left. */
  stream: AttemptTimeouts;
  whole: AttemptTimeouts;
}

/** SDKs wait for 600 s themselves: a fallback that begins only then begins for nobody. */
const streamPatienceMs = 60_000;
const wholePatienceMs = 120_000;

/** `configured`: of the group and the provider; it goes over all defaults. */
export function compileTimeouts(configured: Partial<Timeouts>): TargetTimeouts {
  const usual = { ...defaultTimeouts, ...configured };
  const last = { ...usual, progressMs: Math.max(usual.firstContentMs, usual.idleMs) };
  const within = (patienceMs: number): AttemptTimeouts => {
    const { firstByteMs, firstContentMs } = configured;
    // Whoever lets one of the two take longer means the beginning of an answer.
    const otherwiseMs = Math.max(patienceMs, firstByteMs ?? 0, firstContentMs ?? 0);
    return { ...last, firstByteMs: firstByteMs ?? otherwiseMs, firstContentMs: firstContentMs ?? otherwiseMs };
  };
  return { last, stream: within(streamPatienceMs), whole: within(wholePatienceMs) };
}
