/** Which part of each event a person may see. An event without an entry does not compile. Pure. */
import type { Config } from '../../contract/config.ts';
import type { ConfigViews, ControlEvent } from '../../contract/events.ts';
import { maxReported } from '../../contract/find.ts';
import { sees, type Visibility } from './visibility.ts';
import { visibleKeys } from './visible-keys.ts';
import { visibleStatus } from './visible-status.ts';

type EventType = ControlEvent['type'];
type EventOf<T extends EventType> = Extract<ControlEvent, { type: T }>;
/** The views of the keys and groups with these ids, as in events. */
export interface ReportedViews {
  reportedKeys(ids: ReadonlySet<string>): Pick<ConfigViews, 'keys' | 'keyCount'>;
  reportedGroups(ids: ReadonlySet<string>): Pick<ConfigViews, 'groups' | 'groupCount'>;
}
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
export function visibleEvent(
  event: ControlEvent,
  visibility: Visibility,
  reported: ReportedViews,
): ControlEvent | null {
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

/** Keeps only the limits of the reported keys and groups, since an administrator's window has no others. */
export function withReportedLimits(
  event: ControlEvent,
  { keys, groups }: Pick<Config, 'keys' | 'groups'>,
): ControlEvent {
  if (event.type !== 'limit-use') return event;
  const first = (list: readonly { id: string }[]) => new Set(list.slice(0, maxReported).map(({ id }) => id));
  return {
    ...event,
    keys: visibleEntries(event.keys, first(keys)),
    groups: visibleEntries(event.groups, first(groups)),
  };
}

function visibleEntries<Value>(
  entries: Readonly<Record<string, Value>>,
  names: ReadonlySet<string>,
): Record<string, Value> {
  return Object.fromEntries(Object.entries(entries).filter(([name]) => names.has(name)));
}
