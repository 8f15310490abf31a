/** Which part of each event a person may see. An event without an entry does not compile. Pure. */
import type { ConfigViews, ControlEvent } from '../contract/events.ts';
import { sees, type Visibility } from './visibility.ts';
import { visibleKeys } from './visible-keys.ts';
import { visibleStatus } from './visible-status.ts';

type EventType = ControlEvent['type'];
type EventOf<T extends EventType> = Extract<ControlEvent, { type: T }>;
/** The views of the keys with these ids, as in events. */
export type KeyViewsById = (ids: ReadonlySet<string>) => Pick<ConfigViews, 'keys' | 'keyCount'>;
type Rules = {
  readonly [T in EventType]: (event: EventOf<T>, visibility: Visibility, keyViews: KeyViewsById) => ControlEvent | null;
};

const rules: Rules = {
  snapshot: (event, visibility, keyViews) => ({
    ...visibleViews(event, visibility, keyViews),
    requests: event.requests.filter((request) => sees(visibility, request)),
  }),
  'config-changed': ({ groupKeyCounts, ...event }, visibility, keyViews) => ({
    ...visibleViews(event, visibility, keyViews),
    ...(groupKeyCounts && { groupKeyCounts: visibleEntries(groupKeyCounts, visibility.groups) }),
  }),
  'request-started': (event, visibility) => (sees(visibility, event.request) ? event : null),
  'request-finished': (event, visibility) => (sees(visibility, event.request) ? event : null),
  'provider-changed': () => null,
  'limit-reached': (event, { keys, managed }) =>
    (event.notice.scope === 'key' ? keys : managed).has(event.notice.id) ? event : null,
  'session-budget-reached': (event, { keys }) => (event.notice.keyId && keys.has(event.notice.keyId) ? event : null),
  'update-ready': () => null,
  'limit-use': ({ type, keys, groups }, visibility) => ({
    type,
    keys: visibleEntries(keys, visibility.keys),
    groups: visibleEntries(groups, visibility.groups),
  }),
  'ledger-health': () => null,
  refusals: () => null,
  standstill: () => null,
};

/** Null if the person may not see the event. */
export function visibleEvent(event: ControlEvent, visibility: Visibility, keyViews: KeyViewsById): ControlEvent | null {
  if (!visibility.isAll) return keep({ event, type: event.type }, visibility, keyViews);
  return 'status' in event ? { ...event, status: visibleStatus(event.status, visibility) } : event;
}

function keep<T extends EventType>(
  { event, type }: { event: ControlEvent; type: T },
  visibility: Visibility,
  keyViews: KeyViewsById,
): ControlEvent | null {
  // Safe: `type` is that of the event.
  return rules[type](event as EventOf<T>, visibility, keyViews);
}

/** Lists that are there stay there; those of the administrator are empty. The first keys of all may leave out a person's. */
function visibleViews<Given extends Pick<ConfigViews, 'status'> & Partial<ConfigViews>>(
  given: Given,
  visibility: Visibility,
  keyViews: KeyViewsById,
): Given {
  const { status, keys, groups, providers, aliases, refusals } = given;
  const own = keys && keyViews(visibility.keys);
  return {
    ...given,
    status: visibleStatus(status, visibility),
    ...(own && { ...own, keys: visibleKeys(own.keys, visibility) }),
    ...(groups && { groups: groups.filter(({ id }) => visibility.groups.has(id)) }),
    ...(providers && { providers: [] }),
    ...(aliases && { aliases: [] }),
    ...(refusals && { refusals: [] }),
  };
}

function visibleEntries<Value>(
  entries: Readonly<Record<string, Value>>,
  names: ReadonlySet<string>,
): Record<string, Value> {
  return Object.fromEntries(Object.entries(entries).filter(([name]) => names.has(name)));
}
