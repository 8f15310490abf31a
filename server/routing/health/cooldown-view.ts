import type { CooldownView } from '../../contract/provider-views.ts';
import { describeFailure } from './describe-failure.ts';
import type { Judgement } from './judge.ts';

/** The present time on the health book's monotonic clock and on the wall clock. */
interface ClockReadings {
  bookMs: number;
  wallMs: number;
}

export function viewCooldown({ state, failure, untilMs }: Judgement, { bookMs, wallMs }: ClockReadings): CooldownView {
  return {
    state,
    failure,
    reason: state === 'ok' || failure === null ? null : describeFailure(failure),
    until: state === 'cooling' && untilMs > bookMs ? Math.round(wallMs + untilMs - bookMs) : null,
  };
}
