import type { ControlEvent } from '../../../server/contract/events.ts';
import type { RequestStarted } from '../../../server/contract/ledger.ts';
import type { RequestView } from '../../../server/contract/request-views.ts';

/** Enough to scroll back over; older requests are queried. */
export const longestLiveList = 2_000;

/** A request as the live list shows it. `outcome` and `totalMs` are null while it runs. */
export type LiveRequest = RequestStarted &
  Pick<
    RequestView,
    | 'outcome'
    | 'fault'
    | 'cassette'
    | 'status'
    | 'errorCode'
    | 'modelServed'
    | 'provider'
    | 'attempts'
    | 'firstByteMs'
    | 'totalMs'
    | 'usage'
    | 'usageCertainty'
    | 'costUsd'
    | 'client'
    | 'captured'
  >;

type RequestEvent = Extract<ControlEvent, { type: 'request-started' | 'request-finished' }>;

/** Applies an event to the list, which is ordered newest first and has at most `longestLiveList` entries. */
export function withRequestEvent(requests: readonly LiveRequest[], event: RequestEvent): readonly LiveRequest[] {
  const request = event.type === 'request-started' ? running(event.request) : event.request;
  const index = requests.findIndex((each) => each.id === request.id);
  if (index === -1) return [request, ...requests].slice(0, longestLiveList);
  // A request that has ended does not start again.
  return event.type === 'request-started' ? requests : requests.with(index, request);
}

function running(started: RequestStarted): LiveRequest {
  return {
    ...started,
    outcome: null,
    fault: null,
    cassette: null,
    status: null,
    errorCode: null,
    modelServed: null,
    provider: null,
    attempts: [],
    firstByteMs: null,
    totalMs: null,
    usage: null,
    usageCertainty: 'none',
    costUsd: null,
    client: null,
    captured: null,
  };
}

/** In less time than this, the answer arrived all at once and has no meaningful rate. */
const shortestMs = 100;

/** Tokens per second of a streamed answer, measured from its first byte; null if unknown, as when only a reservation is. */
export function outputRateOf(
  request: Pick<RequestView, 'stream' | 'outcome' | 'usage' | 'usageCertainty' | 'firstByteMs' | 'totalMs'>,
): number | null {
  const { stream, outcome, usage, usageCertainty, firstByteMs, totalMs } = request;
  if (!stream || outcome !== 'ok' || usageCertainty === 'reserved' || firstByteMs === null || totalMs === null)
    return null;
  const tokens = usage?.outputTokens ?? 0;
  const durationMs = totalMs - firstByteMs;
  return tokens === 0 || durationMs < shortestMs ? null : Math.round((tokens * 10_000) / durationMs) / 10;
}
