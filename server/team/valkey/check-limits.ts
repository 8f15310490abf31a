/** Decides whether counts allow a request, by the same rules as the counts of a single process. */
import type { Limited } from '../../contract/limits.ts';
import { type Clocks, type Estimate, noCharge } from '../../limits/account.ts';
import type { RateHeaders } from '../../limits/limiter.ts';
import { type Counted, findExceeded, rateMeters } from '../../limits/meters.ts';
import { rateHeaders, refusal } from '../../limits/refusal.ts';

/** A key or group, and the counts that apply to its limits. */
export interface LimitedCounts {
  limited: Limited;
  counted: Counted;
}

/** Throws a GatewayError if a limit is reached. */
export function refuseIfExceeded(limitedCounts: readonly LimitedCounts[], estimate: Estimate, clocks: Clocks): void {
  const options = { clocks, isFree: estimate === noCharge, isPart: estimate.isPart === true };
  for (const { limited, counted } of limitedCounts) {
    const exceeded = findExceeded(counted, limited.limits, options);
    if (exceeded)
      throw refusal(limited, exceeded, { headers: headersOf(limitedCounts, clocks), nowMs: clocks.wallMs() });
  }
}

export function headersOf(limitedCounts: readonly LimitedCounts[], clocks: Clocks): RateHeaders {
  const meters = limitedCounts.flatMap(({ limited, counted }) => rateMeters(counted, limited.limits, clocks));
  return rateHeaders(meters, clocks.wallMs());
}
