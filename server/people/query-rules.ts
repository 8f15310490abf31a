/** What each query tells to whom. A query without a line does not compile. Pure. */
import { controlError } from '../contract/control-error.ts';
import type { UsageDimension } from '../contract/ledger.ts';
import type { QueryMap, QueryResults, QueryType } from '../contract/queries.ts';
import { keptKeys } from './kept-keys.ts';
import { keptStatus } from './kept-status.ts';
import { forbidden } from './may-do.ts';
import { type Sight, sees } from './sight.ts';

/**
 * `everyone`: it says nothing of a group. `admin`: administrators only. `within`: it asks the ledger for the visible requests
 * only. Otherwise `ask` narrows the question, or refuses it, and `keep` narrows the answer.
 */
type Rule<T extends QueryType> =
  | 'everyone'
  | 'admin'
  | 'within'
  | {
      ask?(query: QueryMap[T], sight: Sight): QueryMap[T];
      /** For administrators as well. */
      isForAll?: true;
      keep?(result: QueryResults[T], sight: Sight, query: QueryMap[T]): QueryResults[T];
    };

type Rules = { readonly [T in QueryType]: Rule<T> };

export const queryRules: Rules = {
  status: { isForAll: true, keep: keptStatus },
  providers: 'admin',
  presets: 'everyone',
  'local-servers': 'admin',
  'environment-credentials': 'admin',
  'provider-test': 'admin',
  keys: { keep: keptKeys },
  'find-keys': {
    ask: (asked, { keys }) => ({ ...asked, ids: within(keys, asked.ids) }),
    keep: ({ found, total }, sight) => ({ found: keptKeys(found, sight), total }),
  },
  groups: { keep: (groups, sight) => groups.filter(({ id }) => sight.groups.has(id)) },
  'find-groups': { ask: (asked, { groups }) => ({ ...asked, ids: within(groups, asked.ids) }) },
  'group-preview': 'admin',
  caches: { keep: (caches, sight) => caches.filter(({ groupId }) => sight.managed.has(groupId)) },
  cassettes: 'admin',
  aliases: 'admin',
  models: { ask: askedByKnown },
  prices: 'admin',
  route: { ask: askedByKnown, keep: keptRoute },
  requests: 'within',
  'request-count': 'within',
  // The names of models and clients that others use.
  'request-names': 'admin',
  request: { keep: keptRequest },
  sessions: 'within',
  session: { keep: keptSession },
  shadows: { ask: askedByManager },
  dataset: 'within',
  refusals: 'admin',
  clients: { keep: (uses, sight) => uses.filter(({ keyId }) => keyId !== null && sight.keys.has(keyId)) },
  'connect-clients': 'admin',
  'connect-preview': 'admin',
  'connect-undo-preview': 'admin',
  // By model, provider and day from the visible requests.
  usage: { ask: (asked, sight) => (isSummed(asked.by) ? namedOnly(asked, sight) : asked) },
  'usage-over-time': { ask: (asked, sight) => (isSummed(asked.by) ? namedOnly(asked, sight) : asked) },
  'first-byte-times': { ask: namedOnly },
  config: 'admin',
  'import-preview': 'admin',
  'team-preset-preview': 'admin',
  'who-am-i': 'everyone',
  'join-preset': 'everyone',
  people: 'admin',
  // Their own, by who asks.
  tokens: 'everyone',
  audit: 'admin',
  host: 'admin',
  network: 'admin',
};

/** Narrows a query, or throws a GatewayError. */
export function narrowed<T extends QueryType>(type: T, query: QueryMap[T], sight: Sight): QueryMap[T] {
  const rule = queryRules[type];
  if (rule === 'admin' && !sight.isAll) throw forbidden();
  return typeof rule === 'string' || sight.isAll ? query : (rule.ask?.(query, sight) ?? query);
}

/** What the person may see of the answer. Throws GatewayError `not_found` if that is nothing. */
export function keptAnswer<T extends QueryType>(
  type: T,
  { query, result }: { query: QueryMap[T]; result: QueryResults[T] },
  sight: Sight,
): QueryResults[T] {
  const rule = queryRules[type];
  if (typeof rule === 'string' || (sight.isAll && !rule.isForAll)) return result;
  return rule.keep?.(result, sight, query) ?? result;
}

/** For a key or group that the person knows; the same refusals as for those that do not exist. */
function askedByKnown<Asked extends { key?: string | undefined; group?: string | undefined }>(
  asked: Asked,
  sight: Sight,
): Asked {
  const { key, group } = asked;
  if (key !== undefined && !sight.keys.has(key)) throw controlError('not_found', { code: 'no-key', id: key }, 'key');
  if (group !== undefined && !sight.groups.has(group)) {
    throw controlError('not_found', { code: 'no-group', id: group }, 'group');
  }
  return asked;
}

function askedByManager(query: QueryMap['shadows'], { managed, groups }: Sight): QueryMap['shadows'] {
  const { groupId } = query;
  if (groupId === undefined) throw forbidden();
  if (!groups.has(groupId)) throw controlError('not_found', { code: 'no-group', id: groupId }, 'groupId');
  if (!managed.has(groupId)) throw forbidden();
  return query;
}

/** The sums of the ledger are kept by one dimension each: those of a person's keys, by model, are not among them. */
export const isSummed = (by: UsageDimension) => by === 'key' || by === 'group';

function visibleNames(sight: Sight, by: UsageDimension): ReadonlySet<string> {
  if (by === 'key') return sight.keys;
  if (by === 'group') return sight.managed;
  throw forbidden();
}

function namedOnly<Asked extends { by: UsageDimension; names?: string[] | undefined }>(
  asked: Asked,
  sight: Sight,
): Asked {
  return { ...asked, names: within(visibleNames(sight, asked.by), asked.names) };
}

/** What is asked for, or everything, as far as it is visible. */
function within(visible: ReadonlySet<string>, asked: readonly string[] | undefined): string[] {
  return asked ? asked.filter((name) => visible.has(name)) : [...visible];
}

/** Only what is asked for them, without the credentials; others are of providers that other groups may use. */
function keptRoute(route: QueryResults['route']): QueryResults['route'] {
  const taken = route.candidates.filter(({ isTaken }) => isTaken);
  return { ...route, candidates: taken.map((candidate) => ({ ...candidate, credentials: [] })) };
}

/** A shadow belongs to the group, not to the key whose request it repeats. */
function keptRequest(full: QueryResults['request'], sight: Sight): QueryResults['request'] {
  const { request, shadow } = full;
  if (!sees(sight, request)) throw controlError('not_found', { code: 'no-request', id: request.id });
  return { ...full, shadow: shadow && sees(sight, shadow) ? shadow : null };
}

function keptSession(full: QueryResults['session'], sight: Sight): QueryResults['session'] {
  if (!sees(sight, full.session)) throw controlError('not_found', { code: 'no-session', id: full.session.id });
  return full;
}
