/**
 * Filter of the list of sessions, as it appears in the address:
 * `#/sessions?key=k1&group=default&client=…&range=24h&state=running`. `state` is `running` or `refused`; the others are
 * as for requests.
 */
import type { SessionFilterInput } from '../../../server/contract/queries.ts';
import { rangeMs, ranges, type TimeRange } from '../../../server/contract/request-filter.ts';

export const sessionStates = ['running', 'refused'] as const;

export interface ShownSessions {
  key?: string;
  group?: string;
  client?: string;
  range?: TimeRange;
  state?: (typeof sessionStates)[number];
}

export function sessionFilterOf(address: URLSearchParams): ShownSessions {
  const filter: ShownSessions = {};
  for (const name of ['key', 'group', 'client'] as const) {
    const value = address.get(name);
    if (value) filter[name] = value;
  }
  const range = ranges.find((each) => each === address.get('range'));
  const state = sessionStates.find((each) => each === address.get('state'));
  return { ...filter, ...(range && { range }), ...(state && { state }) };
}

/** Includes the `?`; empty if nothing is filtered. */
export function sessionSearchOf(filter: ShownSessions): string {
  const address = new URLSearchParams({ ...filter }).toString();
  return address && `?${address}`;
}

/** The filter in the form that the engine expects. A range ends at `nowMs`. */
export function sessionQueryOf({ key, group, client, range, state }: ShownSessions, nowMs: number): SessionFilterInput {
  return {
    ...(key && { keyId: key }),
    ...(group && { groupId: group }),
    ...(client && { client }),
    ...(range && { sinceMs: nowMs - rangeMs[range] }),
    ...(state === 'running' && { running: true }),
    ...(state === 'refused' && { stopped: true }),
  };
}
