/** Who may ask each query, and which part of the answer they may see. A query without an entry does not compile. Pure. */
import { controlError } from '../../contract/control-error.ts';
import type { UsageDimension } from '../../contract/ledger.ts';
import type { QueryMap, QueryResults, QueryType } from '../../contract/queries.ts';
import { isSummed } from '../../control/people/people.ts';
import { forbidden } from './may-do.ts';
import { sees, type Visibility } from './visibility.ts';
import { visibleKeys } from './visible-keys.ts';
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

type Rules = { readonly [T in QueryType]: Rule<T> };

const queryRules: Rules = {
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
