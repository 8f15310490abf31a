/** The window's view of the engine, and how each event changes it. Pure; independent of React and of the transport. */
import type { ConfigViews, ControlEvent } from '../../../server/contract/events.ts';
import type { RequestStarted } from '../../../server/contract/ledger.ts';
import type { LimitMeter } from '../../../server/contract/limits.ts';
import type { Connection } from '../api/api.ts';
import { type LiveRequest, longestLiveList, withRequestEvent } from '../requests/live-request.ts';

export interface ControlState {
  connection: Connection;
  /** Null until the first snapshot. While the connection is lost, the last known views. */
  views: ConfigViews | null;
  /** Newest first. */
  requests: readonly LiveRequest[];
  /** Increases whenever a request has ended or may have ended. Figures queried before that are then out of date. */
  endedCount: number;
  /** Increases whenever a request is pinned or unpinned, or its note changes. */
  pinCount: number;
  /** Increases whenever the person asks for everything again. */
  reloadCount: number;
}

export const initialState: ControlState = {
  connection: 'connecting',
  views: null,
  requests: [],
  endedCount: 0,
  pinCount: 0,
  reloadCount: 0,
};

export function withEvent(state: ControlState, event: ControlEvent): ControlState {
  if (event.type === 'snapshot') {
    const { type: _, requests, ...views } = event;
    const count = { endedCount: state.endedCount + 1, pinCount: state.pinCount + 1 };
    return { ...state, views, requests: requests.slice(0, longestLiveList), ...count };
  }
  if (!state.views) return state;
  if (event.type === 'pin-changed') return { ...state, pinCount: state.pinCount + 1 };
  const endedCount = state.endedCount + Number(event.type === 'request-finished');
  return { ...state, endedCount, ...withDelta({ views: state.views, requests: state.requests }, event) };
}

type Delta = Exclude<ControlEvent, { type: 'snapshot' | 'pin-changed' }>;
type KnownState = { views: ConfigViews; requests: readonly LiveRequest[] };

function withDelta({ views, requests }: KnownState, event: Delta): Partial<KnownState> {
  switch (event.type) {
    case 'config-changed': {
      const { type: _, groupKeyCounts = {}, ...sent } = event;
      const changed = keepEqualParts(views, sent);
      const groups = (changed.groups ?? views.groups).map((group) => {
        const keyCount = groupKeyCounts[group.id];
        return keyCount === undefined ? group : { ...group, keyCount };
      });
      return { views: { ...views, ...changed, groups } };
    }
    case 'provider-changed': {
      const { provider } = event;
      return {
        views: { ...views, providers: views.providers.map((old) => (old.id === provider.id ? provider : old)) },
      };
    }
    case 'limit-use':
      return { views: withLimitUse(views, event) };
    case 'limit-reached':
    case 'session-budget-reached':
    case 'update-ready':
      return {};
    case 'refusals':
      return { views: { ...views, refusals: event.refusals } };
    case 'ledger-health':
      return { views: { ...views, status: { ...views.status, ledger: event.ledger } } };
    case 'standstill':
      return { views: { ...views, status: { ...views.status, standstill: event.standstill } } };
    case 'request-started':
    case 'request-finished':
      return { views: withKeyUsed(views, event.request), requests: withRequestEvent(requests, event) };
  }
}

/** No event reports the use of a key, so it is derived from the key's requests. */
function withKeyUsed(
  views: ConfigViews,
  { keyId, startedAt }: Pick<RequestStarted, 'keyId' | 'startedAt'>,
): ConfigViews {
  const index = views.keys.findIndex((key) => key.id === keyId);
  const key = views.keys[index];
  if (!key || (key.lastUsedAt ?? 0) >= startedAt) return views;
  return { ...views, keys: views.keys.with(index, { ...key, lastUsedAt: startedAt }) };
}

function withLimitUse(views: ConfigViews, use: Extract<Delta, { type: 'limit-use' }>): ConfigViews {
  const withUses = <V extends { id: string; limitUse: LimitMeter[] }>(
    list: V[],
    uses: Record<string, LimitMeter[]>,
  ) => {
    // Lists that stay the same are not drawn again.
    if (Object.keys(uses).length === 0) return list;
    return list.map((view) => {
      const limitUse = uses[view.id];
      return limitUse ? { ...view, limitUse } : view;
    });
  };
  return { ...views, keys: withUses(views.keys, use.keys), groups: withUses(views.groups, use.groups) };
}

/**
 * `next`, of which each part that equals its counterpart in `previous` is that very object: what is memoised on it is not drawn
 * again. Both are JSON values. Entries of lists are compared by `id`, or by place if they have none. Pure.
 */
export function keepEqualParts<Value>(previous: unknown, next: Value): Value {
  // Safe: `previous` is returned only where it equals `next`.
  return kept(previous, next) as Value;
}

function kept(previous: unknown, next: unknown): unknown {
  if (Object.is(previous, next) || !isComposite(previous) || !isComposite(next)) return next;
  if (Array.isArray(next)) return Array.isArray(previous) ? keptList(previous, next) : next;
  if (Array.isArray(previous)) return next;
  const names = Object.keys(next);
  const parts = names.map((name) => [name, kept(previous[name], next[name])] as const);
  const isEqual =
    names.length === Object.keys(previous).length && parts.every(([name, part]) => part === previous[name]);
  return isEqual ? previous : Object.fromEntries(parts);
}

function keptList(previous: unknown[], next: unknown[]): unknown[] {
  const byId = new Map(previous.map((each) => [idOf(each), each]));
  byId.delete(undefined);
  const parts = next.map((each, index) => kept(byId.get(idOf(each)) ?? previous[index], each));
  return previous.length === parts.length && parts.every((part, index) => part === previous[index]) ? previous : parts;
}

type Composite = Record<string, unknown>;

function isComposite(value: unknown): value is Composite {
  return typeof value === 'object' && value !== null;
}

function idOf(value: unknown): unknown {
  return isComposite(value) ? value.id : undefined;
}
