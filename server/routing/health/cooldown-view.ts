import type { CooldownView } from '../../contract/provider-views.ts';
import { describeFailure } from './describe-failure.ts';
import type { Judgement } from './judge.ts';

/** Moves a moment from the clock of the health book to that of the wall; both are given as they are now. */
interface ClockReadings {
  bookMs: number;
  wallMs: number;
}

export function viewCooldown({ state, failure, untilMs }: Judgement, { bookMs, wallMs }: ClockReadings): CooldownView {
  return {
    state,
    failure,
    reason: state === 'ok' || failure === null ? null : describeFailure(failure),
    until: state === 'cooling' ? Math.round(wallMs + untilMs - bookMs) : null,
  };
}
