/** Which part of each event a person may see. An event without an entry does not compile. Pure. */
import type { Config } from '../../contract/config.ts';
import type { ConfigViews, ControlEvent, EventMessage } from '../../contract/events.ts';
import type { Person } from '../../contract/people.ts';
import type { EventSources, ReportedViews } from '../../control/people/people.ts';
import { sees, type Visibility, visibilityOf } from './visibility.ts';
import { visibleKeys } from './visible-keys.ts';
import { visibleStatus } from './visible-status.ts';

type EventType = ControlEvent['type'];
type EventOf<T extends EventType> = Extract<ControlEvent, { type: T }>;
type EventListener = (message: EventMessage) => void;
type Rules = {
  readonly [T in EventType]: (
    event: EventOf<T>,
    visibility: Visibility,
    reported: ReportedViews,
  ) => ControlEvent | null;
};

const rules: Rules = {
  snapshot: (event, visibility, reported) => ({
    ...visibleViews(event, visibility, reported),
    requests: event.requests.filter((request) => sees(visibility, request)),
  }),
  'config-changed': ({ groupKeyCounts, ...event }, visibility, reported) => ({
    ...visibleViews(event, visibility, reported),
    ...(groupKeyCounts && { groupKeyCounts: visibleEntries(groupKeyCounts, visibility.groups) }),
  }),
  'request-started': (event, visibility) => (sees(visibility, event.request) ? event : null),
  'request-finished': (event, visibility) => (sees(visibility, event.request) ? event : null),
  'provider-changed': () => null,
  'limit-reached': (event, { keys, managed, person }) =>
    ({ key: keys, group: managed, person: new Set([person.id]) })[event.notice.scope].has(event.notice.id)
      ? event
      : null,
  'session-budget-reached': (event, { keys }) => (event.notice.keyId && keys.has(event.notice.keyId) ? event : null),
  'update-ready': () => null,
  'limit-use': ({ type, keys, groups }, visibility) => ({
    type,
    keys: visibleEntries(keys, visibility.keys),
    groups: visibleEntries(groups, visibility.groups),
  }),
  'pin-changed': (event, visibility) => (sees(visibility, event) ? event : null),
  'ledger-health': () => null,
  refusals: () => null,
  standstill: () => null,
};

/** Passes on what the person may see. Renumbers the events, because a gap would look like a lost event. */
export function visibleEvents(
  person: Person,
  { config, reported }: EventSources,
  listener: EventListener,
): EventListener {
  const visibility = latestVisibility(person, config);
  let revision: number | null = null;
  return (message) => {
    const event = visibleEvent(message.event, visibility(), reported);
    if (!event) return;
    revision = revision === null ? message.revision : revision + 1;
    listener({ revision, event });
  };
}

/** Computed once per configuration, because there may be many events and keys. */
function latestVisibility(person: Person, config: () => Config): () => Visibility {
  let cached: { config: Config; visibility: Visibility } | null = null;
  return () => {
    const latest = config();
    if (cached?.config !== latest) cached = { config: latest, visibility: visibilityOf(person, latest) };
    return cached.visibility;
  };
}

/** Null if the person may not see the event. */
function visibleEvent(event: ControlEvent, visibility: Visibility, reported: ReportedViews): ControlEvent | null {
  if (!visibility.isAll) return keep({ event, type: event.type }, visibility, reported);
  return 'status' in event ? { ...event, status: visibleStatus(event.status, visibility) } : event;
}

function keep<T extends EventType>(
  { event, type }: { event: ControlEvent; type: T },
  visibility: Visibility,
  reported: ReportedViews,
): ControlEvent | null {
  // Safe, because `type` is the event's own.
  return rules[type](event as EventOf<T>, visibility, reported);
}

/**
 * Lists that are present stay present; those for administrators only become empty. The person's keys and groups are
 * looked up, because they may not be among the first of all.
 */
function visibleViews<ShownViews extends Pick<ConfigViews, 'status'> & Partial<ConfigViews>>(
  views: ShownViews,
  visibility: Visibility,
  reported: ReportedViews,
): ShownViews {
  const { status, keyCount, groupCount, providers, aliases, refusals } = views;
  const own = keyCount === undefined ? null : reported.reportedKeys(visibility.keys);
  return {
    ...views,
    status: visibleStatus(status, visibility),
    ...(own && { ...own, keys: visibleKeys(own.keys, visibility) }),
    ...(groupCount !== undefined && reported.reportedGroups(visibility.groups)),
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
