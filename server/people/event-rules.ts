/** What each event tells to a person. An event without a line does not compile. Pure. */
import type { Config } from '../contract/config.ts';
import type { ConfigViews, ControlEvent } from '../contract/events.ts';
import { mostTold } from '../contract/find.ts';
import { keptKeys } from './kept-keys.ts';
import { keptStatus } from './kept-status.ts';
import { type Sight, sees } from './sight.ts';

type EventType = ControlEvent['type'];
type EventOf<T extends EventType> = Extract<ControlEvent, { type: T }>;
/** The keys and groups with these ids, as events tell of them. */
export interface Told {
  toldKeys(ids: ReadonlySet<string>): Pick<ConfigViews, 'keys' | 'keyCount'>;
  toldGroups(ids: ReadonlySet<string>): Pick<ConfigViews, 'groups' | 'groupCount'>;
}
type Rules = {
  readonly [T in EventType]: (event: EventOf<T>, sight: Sight, told: Told) => ControlEvent | null;
};

const rules: Rules = {
  snapshot: (event, sight, told) => ({
    ...keptViews(event, sight, told),
    requests: event.requests.filter((request) => sees(sight, request)),
  }),
  'config-changed': ({ groupKeyCounts, ...event }, sight, told) => ({
    ...keptViews(event, sight, told),
    ...(groupKeyCounts && { groupKeyCounts: keptEntries(groupKeyCounts, sight.groups) }),
  }),
  'request-started': (event, sight) => (sees(sight, event.request) ? event : null),
  'request-finished': (event, sight) => (sees(sight, event.request) ? event : null),
  'provider-changed': () => null,
  'limit-reached': (event, { keys, managed }) =>
    (event.notice.scope === 'key' ? keys : managed).has(event.notice.id) ? event : null,
  'session-budget-reached': (event, { keys }) => (event.notice.keyId && keys.has(event.notice.keyId) ? event : null),
  'update-ready': () => null,
  'limit-use': ({ type, keys, groups }, sight) => ({
    type,
    keys: keptEntries(keys, sight.keys),
    groups: keptEntries(groups, sight.groups),
  }),
  'ledger-health': () => null,
  refusals: () => null,
  standstill: () => null,
};

/** Null: the person is told nothing. */
export function keptEvent(event: ControlEvent, sight: Sight, told: Told): ControlEvent | null {
  if (!sight.isAll) return keep({ event, type: event.type }, sight, told);
  return 'status' in event ? { ...event, status: keptStatus(event.status, sight) } : event;
}

function keep<T extends EventType>(
  { event, type }: { event: ControlEvent; type: T },
  sight: Sight,
  told: Told,
): ControlEvent | null {
  // Safe: `type` is that of the event.
  return rules[type](event as EventOf<T>, sight, told);
}

/** Lists that are there stay there; those of the administrator are empty. The first keys and groups of all may leave out a person's. */
function keptViews<Given extends Pick<ConfigViews, 'status'> & Partial<ConfigViews>>(
  given: Given,
  sight: Sight,
  told: Told,
): Given {
  const { status, keyCount, groupCount, providers, aliases, refusals } = given;
  const own = keyCount === undefined ? null : told.toldKeys(sight.keys);
  return {
    ...given,
    status: keptStatus(status, sight),
    ...(own && { ...own, keys: keptKeys(own.keys, sight) }),
    ...(groupCount !== undefined && told.toldGroups(sight.groups)),
    ...(providers && { providers: [] }),
    ...(aliases && { aliases: [] }),
    ...(refusals && { refusals: [] }),
  };
}

/** Of the limits that the events are about, an administrator's window holds those of the first keys and groups alone. */
export function limitsOfTold(event: ControlEvent, { keys, groups }: Pick<Config, 'keys' | 'groups'>): ControlEvent {
  if (event.type !== 'limit-use') return event;
  const first = (list: readonly { id: string }[]) => new Set(list.slice(0, mostTold).map(({ id }) => id));
  return { ...event, keys: keptEntries(event.keys, first(keys)), groups: keptEntries(event.groups, first(groups)) };
}

function keptEntries<Value>(
  entries: Readonly<Record<string, Value>>,
  names: ReadonlySet<string>,
): Record<string, Value> {
  return Object.fromEntries(Object.entries(entries).filter(([name]) => names.has(name)));
}
