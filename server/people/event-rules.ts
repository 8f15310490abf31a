/** What each event tells to a person. An event without a line does not compile. Pure. */
import type { ConfigViews, ControlEvent } from '../contract/events.ts';
import { keptKeys } from './kept-keys.ts';
import { keptStatus } from './kept-status.ts';
import { type Sight, sees } from './sight.ts';

type EventType = ControlEvent['type'];
type EventOf<T extends EventType> = Extract<ControlEvent, { type: T }>;
type Rules = { readonly [T in EventType]: (event: EventOf<T>, sight: Sight) => ControlEvent | null };

const rules: Rules = {
  snapshot: (event, sight) => ({
    ...keptViews(event, sight),
    requests: event.requests.filter((request) => sees(sight, request)),
  }),
  'config-changed': keptViews,
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
export function keptEvent(event: ControlEvent, sight: Sight): ControlEvent | null {
  if (!sight.isAll) return keep(event.type, event, sight);
  return 'status' in event ? { ...event, status: keptStatus(event.status, sight) } : event;
}

function keep<T extends EventType>(type: T, event: ControlEvent, sight: Sight): ControlEvent | null {
  // Safe: `type` is that of the event.
  return rules[type](event as EventOf<T>, sight);
}

/** Lists that are there stay there; those of the administrator are empty. */
function keptViews<Given extends Pick<ConfigViews, 'status'> & Partial<ConfigViews>>(
  given: Given,
  sight: Sight,
): Given {
  const { status, keys, groups, providers, aliases, refusals } = given;
  return {
    ...given,
    status: keptStatus(status, sight),
    ...(keys && { keys: keptKeys(keys, sight) }),
    ...(groups && { groups: groups.filter(({ id }) => sight.groups.has(id)) }),
    ...(providers && { providers: [] }),
    ...(aliases && { aliases: [] }),
    ...(refusals && { refusals: [] }),
  };
}

function keptEntries<Value>(
  entries: Readonly<Record<string, Value>>,
  names: ReadonlySet<string>,
): Record<string, Value> {
  return Object.fromEntries(Object.entries(entries).filter(([name]) => names.has(name)));
}
