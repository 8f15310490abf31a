/** Who may ask each query, and which part of answers and events they may see. One without an entry does not compile. Pure. */

import type { Config } from '../../contract/config.ts';
import { controlError } from '../../contract/control-error.ts';
import type { ConfigViews, ControlEvent, EventMessage } from '../../contract/events.ts';
import type { UsageDimension } from '../../contract/ledger.ts';
import type { Person } from '../../contract/people.ts';
import type { QueryMap, QueryResults, QueryType } from '../../contract/queries.ts';
import { type EventSources, isSummed, type ReportedViews } from '../../control/people/people.ts';
import { forbidden } from './may-do.ts';
import { sees, type Visibility, visibilityOf, visibleKeys } from './visibility.ts';
import { visibleStatus } from './visible-status.ts';

/**
 * `everyone`: the answer concerns no group. `admin`: administrators only. `within`: it reads only visible requests from
 * the ledger. Otherwise `ask` narrows the question, or refuses it, and `keep` narrows the answer.
 */
type Rule<T extends QueryType> =
  | 'everyone'
  | 'admin'
  | 'within'
  | {
      ask?(query: QueryMap[T], visibility: Visibility): QueryMap[T];
      /** Applies to administrators too. */
      isForAll?: true;
      keep?(result: QueryResults[T], visibility: Visibility, query: QueryMap[T]): QueryResults[T];
    };

type QueryRules = { readonly [T in QueryType]: Rule<T> };

const queryRules: QueryRules = {
  status: { isForAll: true, keep: visibleStatus },
  providers: 'admin',
  presets: 'everyone',
  'local-servers': 'admin',
  'environment-credentials': 'admin',
  'provider-test': 'admin',
  keys: { keep: visibleKeys },
  'find-keys': {
    ask: (query, { keys }) => ({ ...query, ids: onlyVisible(keys, query.ids) }),
    keep: ({ found, total }, visibility) => ({ found: visibleKeys(found, visibility), total }),
  },
  groups: { keep: (groups, visibility) => groups.filter(({ id }) => visibility.groups.has(id)) },
  'find-groups': { ask: (query, { groups }) => ({ ...query, ids: onlyVisible(groups, query.ids) }) },
  'group-preview': 'admin',
  caches: { keep: (caches, visibility) => caches.filter(({ groupId }) => visibility.managed.has(groupId)) },
  cassettes: 'admin',
  aliases: 'admin',
  models: { ask: askAboutVisible },
  prices: 'admin',
  route: { ask: askAboutVisible, keep: visibleRoute },
  requests: 'within',
  'request-count': 'within',
  // These would disclose models and clients of others.
  'request-names': 'admin',
  request: { keep: visibleRequest },
  pins: { keep: (pins, visibility) => pins.filter((each) => sees(visibility, each)) },
  sessions: 'within',
  'request-texts': { keep: (texts, visibility) => texts.filter((each) => sees(visibility, each)) },
  session: { keep: visibleSession },
  refusals: 'admin',
  clients: { keep: (uses, visibility) => uses.filter(({ keyId }) => keyId !== null && visibility.keys.has(keyId)) },
  panel: 'admin',
  'connect-clients': 'admin',
  'connect-preview': 'admin',
  'connect-undo-preview': 'admin',
  // By model, provider and day, computed from the visible requests.
  usage: { ask: (query, visibility) => (isSummed(query.by) ? namedOnly(query, visibility) : query) },
  'usage-over-time': { ask: (query, visibility) => (isSummed(query.by) ? namedOnly(query, visibility) : query) },
  'first-byte-times': { ask: namedOnly },
  config: 'admin',
  'import-preview': 'admin',
  'adopt-preview': 'admin',
  'team-preset-preview': 'admin',
  'who-am-i': 'everyone',
  'join-preset': 'everyone',
  people: 'admin',
  scim: 'admin',
  // Contains only the caller's own tokens.
  tokens: 'everyone',
  audit: 'admin',
  host: 'admin',
  network: 'admin',
};

/** Narrows a query, or throws a GatewayError. */
export function narrowed<T extends QueryType>(type: T, query: QueryMap[T], visibility: Visibility): QueryMap[T] {
  const rule = queryRules[type];
  if (rule === 'admin' && !visibility.isAll) throw forbidden();
  return typeof rule === 'string' || visibility.isAll ? query : (rule.ask?.(query, visibility) ?? query);
}

/** The part of the answer that the person may see. Throws GatewayError `not_found` if there is none. */
export function visibleAnswer<T extends QueryType>(
  type: T,
  { query, result }: { query: QueryMap[T]; result: QueryResults[T] },
  visibility: Visibility,
): QueryResults[T] {
  const rule = queryRules[type];
  if (typeof rule === 'string' || (visibility.isAll && !rule.isForAll)) return result;
  return rule.keep?.(result, visibility, query) ?? result;
}

/** For a key or group that is visible to the person; others are refused as if they did not exist. */
function askAboutVisible<Query extends { key?: string | undefined; group?: string | undefined }>(
  query: Query,
  visibility: Visibility,
): Query {
  const { key, group } = query;
  if (key !== undefined && !visibility.keys.has(key))
    throw controlError('not_found', { code: 'no-key', id: key }, 'key');
  if (group !== undefined && !visibility.groups.has(group)) {
    throw controlError('not_found', { code: 'no-group', id: group }, 'group');
  }
  return query;
}

function visibleNames(visibility: Visibility, by: UsageDimension): ReadonlySet<string> {
  if (by === 'key') return visibility.keys;
  if (by === 'group') return visibility.managed;
  throw forbidden();
}

function namedOnly<Query extends { by: UsageDimension; names?: string[] | undefined }>(
  query: Query,
  visibility: Visibility,
): Query {
  return { ...query, names: onlyVisible(visibleNames(visibility, query.by), query.names) };
}

/** The requested names that are visible, or all visible names. */
function onlyVisible(visible: ReadonlySet<string>, requested: readonly string[] | undefined): string[] {
  return requested ? requested.filter((name) => visible.has(name)) : [...visible];
}

/** Keeps only the targets that serve the person, without credentials; others belong to providers of other groups. */
function visibleRoute(route: QueryResults['route']): QueryResults['route'] {
  const usedCandidates = route.candidates.filter(({ isTaken }) => isTaken);
  return { ...route, candidates: usedCandidates.map((candidate) => ({ ...candidate, credentials: [] })) };
}

function visibleRequest(full: QueryResults['request'], visibility: Visibility): QueryResults['request'] {
  const { request } = full;
  if (!sees(visibility, request)) throw controlError('not_found', { code: 'no-request', id: request.id });
  return full;
}

function visibleSession(full: QueryResults['session'], visibility: Visibility): QueryResults['session'] {
  if (!sees(visibility, full.session)) throw controlError('not_found', { code: 'no-session', id: full.session.id });
  return full;
}

type EventType = ControlEvent['type'];
type EventOf<T extends EventType> = Extract<ControlEvent, { type: T }>;
type EventListener = (message: EventMessage) => void;
type EventRules = {
  readonly [T in EventType]: (
    event: EventOf<T>,
    visibility: Visibility,
    reported: ReportedViews,
  ) => ControlEvent | null;
};

const eventRules: EventRules = {
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
  return eventRules[type](event as EventOf<T>, visibility, reported);
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
