import type { ProbeFinding } from '../contract/probe.ts';
import { refuseCredential } from './judge-answer.ts';
import type { ProbeSteps } from './probe-steps.ts';
import type { Upstream } from './upstream.ts';

/** A small test call to one model. */
export interface Trial {
  model: string;
  /** `refused`: the credential could not be used to build the request. */
  outcome:
    | { kind: 'answer' | 'no-answer'; status: number }
    | { kind: 'unreachable'; detail: string }
    | { kind: 'refused' };
  elapsedMs: number;
  /** The provider's message about the failure, without secrets. */
  said: string | null;
}

/** Why no call was made. */
export type NoTrial = 'call-unpriced' | 'call-impossible';

/** Derives the result of the call. A refused credential or a used-up quota fails those steps instead. */
export function judgeTrial(steps: ProbeSteps, provider: Upstream, trial: Trial | NoTrial): void {
  if (typeof trial === 'string') {
    steps.skip('call', { code: trial });
    return;
  }
  const { model, outcome, elapsedMs } = trial;
  if (outcome.kind === 'unreachable')
    steps.fail('call', { code: 'way-failed', detail: outcome.detail }, { code: 'try-later' });
  else if (outcome.kind === 'refused') refuseCredential(steps, provider, 401);
  else if (outcome.kind === 'no-answer' || outcome.status >= 400) judgeStatus(steps, provider, model, outcome.status);
  else {
    if (provider.credentials.length > 0) steps.confirm('credential');
    steps.pass('call', { code: 'answered-with', model, elapsedMs });
  }
}

function judgeStatus(steps: ProbeSteps, provider: Upstream, model: string, status: number): void {
  const finding: ProbeFinding = { code: 'call-answered', model, status };
  if (status < 400) steps.fail('call', { code: 'call-not-understood', model }, { code: 'choose-model' });
  else if (status === 401) refuseCredential(steps, provider, status);
  else if (status === 402) steps.fail('quota', finding, { code: 'pay' });
  else if (status === 429) steps.fail('quota', finding, { code: 'wait-or-raise-limits' });
  else if (status === 403 || status === 404) steps.fail('call', finding, { code: 'check-model' });
  else steps.fail('call', finding, { code: status >= 500 ? 'try-later' : 'choose-model' });
}
