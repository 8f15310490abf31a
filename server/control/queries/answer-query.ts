/** Answers queries from the configuration and its running state, from the ledger, or by asking a provider. */
import type { AnswerCache } from '../../cache/answer-cache.ts';
import type { GroupPreviewView, RefusedDefault, RouteView } from '../../contract/access-views.ts';
import type { CacheView } from '../../contract/answer-cache.ts';
import type { AdoptPreview } from '../../contract/change-views.ts';
import { controlError } from '../../contract/control-error.ts';
import { GatewayError } from '../../contract/errors.ts';
import type { LimitMeter } from '../../contract/limits.ts';
import { capabilities } from '../../contract/operations.ts';
import type { Person, Within } from '../../contract/people.ts';
import type { PersonView } from '../../contract/people-views.ts';
import type { Policy } from '../../contract/policy.ts';
import type { EnvironmentCredential } from '../../contract/preset.ts';
import type { ProbeReport } from '../../contract/probe.ts';
import {
  type Query,
  type QueryInput,
  type QueryMap,
  type QueryResult,
  type QueryResults,
  type QueryType,
  querySchema,
} from '../../contract/queries.ts';
import type { RecentCaptures, WaitingCaptures } from '../../exchange/capture/capture-companion.ts';
import type { PriceTable } from '../../models/price-table.ts';
import { aliasesByName, compileGroup } from '../../routing/compile.ts';
import { compilePersonLimits } from '../../routing/compile-keys.ts';
import { type ExplainedTarget, explainRoute } from '../../routing/explain/explain-route.ts';
import type { HealthTracker } from '../../routing/health/health-tracker.ts';
import type { ToldLimits } from '../../routing/health/told-limits.ts';
import { keyPrefix } from '../../routing/key-secret.ts';
import { anyKeyOf, resolveRoute } from '../../routing/resolve.ts';
import type { CompiledGroup, CompiledKey, Snapshot, Target } from '../../routing/snapshot.ts';
import type { Ledger } from '../../store/sqlite/ledger.ts';
import type { LedgerQueries } from '../../store/sqlite/queries.ts';
import type { ChangeContext } from '../changes/change.ts';
import { checkJoinPreset } from '../changes/change-team-preset.ts';
import type { CassetteControl } from '../changes/check-cassette.ts';
import type { ConnectClients } from '../changes/connect-clients.ts';
import type { TeamPresets } from '../changes/team-presets.ts';
import { findUpstream } from '../entries/change-list.ts';
import { parseInput } from '../entries/parse-input.ts';
import { withoutSecretsInProviders } from '../entries/provider-secrets.ts';
import type { ControlledMachine, LiveConfig } from '../live/live-config.ts';
import type { ProviderKnowledge } from '../live/provider-knowledge.ts';
import { type Caller, checkScope, isSummed, type People, whereSignedIn } from '../people/people.ts';
import type { PriceRenewal } from '../prices/price-renewal.ts';
import type { Views } from '../views/views.ts';
import {
  clientsNamed,
  countRequests,
  listRequests,
  viewPin,
  viewRequest,
  viewRequestTexts,
} from './pinned-requests.ts';
import { previewImport, previewTeamPreset } from './preview-import.ts';
import { type Asker, explainWires, type ModelFacts, viewAllPrices, viewModels } from './view-models.ts';
import { stopAtUsd, viewPanel } from './view-panel.ts';

interface QueryPorts {
  live: Pick<LiveConfig, 'used' | 'snapshot' | 'isSecretInUse'>;
  views: Views;
  ledger: LedgerQueries & Pick<Ledger, 'refusals' | 'pins'>;
  now(): number;
  providers: ProviderKnowledge;
  team: TeamPresets;
  clients: Pick<ConnectClients, 'list' | 'preview' | 'previewUndo'>;
  context: Pick<ChangeContext, 'ownAddresses'>;
  held: {
    cache: Pick<AnswerCache, 'view'>;
    captures: Pick<WaitingCaptures, 'ready'>;
    recentCaptures: Pick<RecentCaptures, 'find' | 'isDisplaced' | 'ids' | 'search'>;
    cassettes: Pick<CassetteControl, 'view'>;
  };
  /** Null where nobody signs in. */
  people: People | null;
  machine: Pick<ControlledMachine, 'env' | 'dataFolder' | 'logFolder' | 'network'>;
  routing: {
    /** The order in which targets would be tried now. */
    explainOrder(targets: readonly Target[], strategy: Policy['strategy']): ExplainedTarget[];
    modelFacts: ModelFacts;
    health: Pick<HealthTracker, 'proved' | 'listAnswered'>;
    toldLimits: Pick<ToldLimits, 'of'>;
    prices: Pick<PriceTable, 'applied' | 'cost'>;
    renewal: Pick<PriceRenewal, 'view' | 'list'>;
  };
}

/**
 * Validates its input. Rejects with a GatewayError. `by`: the caller, unless that is the administrator of this machine.
 */
export interface AnswerQuery {
  <Input extends QueryInput>(query: Input, by?: Caller): Promise<QueryResults[Input['type']]>;
  (query: unknown, by?: Caller): Promise<QueryResult>;
}

interface Asking {
  by: Caller | undefined;
  /** The part of the ledger that the caller may see; undefined for all of it. */
  within: Within | undefined;
  /** The requests that were made with the caller's own keys; null for the administrator of this machine. */
  own: Within | null;
}

type Answers = {
  [T in QueryType]: (query: QueryMap[T], scope: Asking) => QueryResults[T] | Promise<QueryResults[T]>;
};

/** The ids of the requests whose captures an answer shows. */
const capturesIn: { readonly [T in QueryType]?: (result: QueryResults[T]) => string[] } = {
  request: ({ request, capture }) => (capture ? [request.id] : []),
  'request-texts': (texts) => texts.map(({ id }) => id),
};

export function createAnswerQuery(ports: QueryPorts): AnswerQuery {
  const answers = createAnswers(ports);
  const visible = async <T extends QueryType>(type: T, query: QueryMap[T], by: Caller | undefined) => {
    if (!by) return answers[type](query, { by, within: undefined, own: null });
    const asked = whereSignedIn(ports.people).narrow(type, query, { by, config: ports.live.used.config });
    return asked.shown(await answers[type](asked.query, { by, within: asked.within, own: asked.own }));
  };
  const answer = async <T extends QueryType>(type: T, query: QueryMap[T], by: Caller | undefined) => {
    const result = await visible(type, query, by);
    const read = ports.people ? (capturesIn[type]?.(result) ?? []) : [];
    if (read.length > 0) await ports.people?.noteReading(read, by);
    return result;
  };
  const answerAny = async (input: unknown, by?: Caller): Promise<QueryResult> => {
    const query: Query = parseInput(querySchema, input, 'query');
    if (by) checkScope(by, 'read');
    return answer(query.type, query, by);
  };
  // Safe, because the type of `answers` pairs each query with its result.
  return answerAny as AnswerQuery;
}

function createAnswers(ports: QueryPorts): Answers {
  const { views, ledger } = ports;
  const { recentCaptures } = ports.held;
  return {
    status: () => views.status(),
    providers: () => views.providers(),
    presets: () => ports.providers.presets(),
    'local-servers': () => ports.providers.localServers(),
    'environment-credentials': () => findEnvironmentCredentials({ ...ports, env: ports.machine.env }),
    'provider-test': (query) => testProvider(ports, query),
    keys: () => views.keys(),
    'find-keys': views.findKeys,
    groups: () => views.groups(),
    'find-groups': views.findGroups,
    'group-preview': ({ group }) => previewGroup(ports, group),
    caches: () => viewCaches(ports),
    cassettes: () => ports.held.cassettes.view(),
    aliases: () => views.aliases(),
    models: (query) => viewModels(askerOf(ports, query), ports.routing),
    prices: () => viewAllPrices(ports),
    route: (query) => viewRoute(ports, query),
    requests: ({ filter, limit, before, sort }, { within }) =>
      listRequests({ ledger, recentCaptures }, defined({ ...filter, limit, before, sort, within })),
    'request-count': ({ filter }, { within }) =>
      countRequests({ ledger, recentCaptures }, defined({ ...filter, within })),
    'request-names': ({ of }) => ledger.listNames(of),
    request: ({ id }) => viewRequest(ledger, ports.held, id),
    pins: async () => (await ledger.pins.list()).map(viewPin),
    'request-texts': ({ ids }) => viewRequestTexts(ledger, ports.held, ids),
    sessions: async ({ filter, limit, before }, { within }) => {
      const client = filter.client === undefined ? undefined : await clientsNamed(ledger, filter.client);
      return ledger.listSessions(defined({ ...filter, client, limit, before, ...sessionReading(ports), within }));
    },
    session: ({ id }) => viewSession(ports, id),
    refusals: ({ sinceMs }) => ledger.refusals.since(sinceMs),
    clients: () => ledger.listClients(),
    panel: (query) => viewPanel({ ...ports, toldLimits: ports.routing.toldLimits }, query),
    'connect-clients': () => ports.clients.list(),
    'connect-preview': (query) => ports.clients.preview(query),
    'connect-undo-preview': ({ client }) => ports.clients.previewUndo(client),
    usage: ({ type: _, ...query }, scope) => ledger.summarizeUsage(defined({ ...query, within: partOf(query, scope) })),
    'usage-over-time': ({ type: _, own, ...question }, scope) =>
      ledger.usageOverTime(defined({ ...question, within: own ? ownPart(scope) : partOf(question, scope) })),
    'first-byte-times': ({ type: _, ...question }) => ledger.firstByteTimes(defined(question)),
    config: () => ({ ...ports.live.used, config: withoutSecretsInProviders(ports.live.used.config) }),
    'import-preview': ({ config }) => previewImport(ports.live.used, config, ports.context.ownAddresses),
    'adopt-preview': ({ text }) => previewAdopt(ports, text),
    'team-preset-preview': ({ preset, as }) => previewTeamPreset(ports, preset, as),
    network: () => ports.machine.network(ports.live.snapshot),
    'who-am-i': (_query, { by }) => viewCaller(ports, by?.person ?? null),
    'join-preset': () => ({ preset: checkJoinPreset(ports.live.used.config.settings) }),
    people: () => viewPeople(ports),
    tokens: (_query, { by }) => whereSignedIn(ports.people).tokens(by),
    scim: () => whereSignedIn(ports.people).scim(),
    audit: (query) => whereSignedIn(ports.people).audit(query),
    host: () => viewHost(ports),
  };
}

/** What the test finds to work counts for the health of the provider. */
async function testProvider(ports: QueryPorts, { id, model }: QueryMap['provider-test']): Promise<ProbeReport> {
  const provider = findUpstream(ports.live, id);
  const { health } = ports.routing;
  const report = await ports.providers.probe(provider, model);
  if (!report.ok) return report;
  if (report.call) health.proved({ provider, model: report.call.model });
  else health.listAnswered(id);
  // What the test could do, asking for the models can do as well.
  if (ports.providers.discovery(id).problem !== null) void ports.providers.refreshModels(provider);
  return report;
}

/** Throws GatewayError `not_found` for the administrator of the machine, who has no own keys. */
function ownPart({ own }: Asking): Within {
  if (!own) throw controlError('not_found', { code: 'no-sign-in' });
  return own;
}

/** The ledger has sums by key and group, which are restricted by name instead. */
const partOf = ({ by }: Pick<QueryMap['usage'], 'by'>, { within }: Asking) => (isSummed(by) ? undefined : within);

function viewHost({ machine: { dataFolder, logFolder } }: QueryPorts): QueryResults['host'] {
  return { dataFolder, logFolder, node: process.versions.node, platform: `${process.platform} ${process.arch}` };
}

function viewCaches({ live, held }: QueryPorts): CacheView[] {
  const caching = live.used.config.groups.filter((group) => group.cache !== null);
  return caching.map(({ id }) => held.cache.view(id));
}

function askerOf(ports: QueryPorts, names: { key?: string | undefined; group?: string | undefined }): Asker {
  const { snapshot } = ports.live;
  const key = names.key === undefined ? null : findKey(snapshot, names.key);
  const groupId = names.group ?? key?.groupId;
  if (groupId === undefined) throw new GatewayError('invalid_command', 'Name a key or a group.');
  if (key && key.groupId !== groupId)
    throw new GatewayError('conflict', `Key "${key.id}" belongs to group "${key.groupId}", not to "${groupId}".`);
  const group = key ? snapshot.groupOf(key) : snapshot.group(groupId);
  if (!group) throw controlError('not_found', { code: 'no-group', id: groupId }, 'group');
  return { group, key };
}

function findKey(snapshot: Snapshot, id: string): CompiledKey {
  for (const key of snapshot.keys.values()) if (key.id === id) return key;
  throw new GatewayError('not_found', `There is no key "${id}", or its secret is missing.`, { param: 'key' });
}

function previewGroup(
  { live, routing: { modelFacts } }: QueryPorts,
  draft: QueryMap['group-preview']['group'],
): GroupPreviewView {
  const aliases = aliasesByName(live.used.config.aliases);
  const group = compileGroup(draft, { aliases, providers: live.snapshot.providers });
  return {
    models: viewModels({ group, key: null }, { modelFacts }),
    providers: group.providers.map(({ provider }) => provider.id),
    passthrough: group.passthrough.provider?.id ?? null,
    refusedDefaults: refusedDefaultsOf(group),
  };
}

function refusedDefaultsOf(group: CompiledGroup): RefusedDefault[] {
  return capabilities.flatMap((capability) => {
    const model = group.defaults[capability];
    const refusal = model === undefined ? null : refusalOf(() => resolveRoute(group, anyKeyOf(group), model));
    return model === undefined || !refusal ? [] : [{ capability, model, code: refusal.code }];
  });
}

function refusalOf(action: () => unknown): GatewayError | null {
  try {
    action();
    return null;
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}

function viewRoute(ports: QueryPorts, query: QueryMap['route']): RouteView {
  const { group, key } = askerOf(ports, query);
  const { snapshot } = ports.live;
  const { strategy } = group.policy;
  const explained = explainRoute({
    snapshot,
    group,
    key,
    model: query.model,
    explainOrder: (targets) => ports.routing.explainOrder(targets, strategy),
    explainWires,
  });
  const refusal = (key && keyRefusal(key, ports.now())) ?? explained.refusal;
  return { model: query.model, group: group.id, key: key?.id ?? null, strategy, ...explained, refusal };
}

function keyRefusal(key: CompiledKey, nowMs: number): RouteView['refusal'] {
  const isKnown = { nearest: null, unlisted: [] };
  if (!key.enabled) return { code: 'key_disabled', ...isKnown, message: `The key "${key.name}" is disabled.` };
  if (key.expiresAtMs === null || key.expiresAtMs > nowMs) return null;
  return { code: 'key_expired', ...isKnown, message: `The key "${key.name}" has expired.` };
}

function sessionReading({ live, held: { recentCaptures } }: Pick<QueryPorts, 'live' | 'held'>) {
  return { stopAtUsd: stopAtUsd(live), inMemory: recentCaptures.ids() };
}

async function viewSession(ports: QueryPorts, id: string): Promise<QueryResults['session']> {
  const session = await ports.ledger.getSession(id, {
    ...sessionReading(ports),
    costOf: (...asked) => ports.routing.prices.cost(...asked),
  });
  if (!session) throw controlError('not_found', { code: 'no-session', id });
  return session;
}

type Defined<T> = { [K in keyof T]: Exclude<T[K], undefined> };

/** Removes properties whose value is undefined. */
function defined<T extends object>(value: T): Defined<T> {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as Defined<T>;
}

/** Loads what reads YAML and TOML. */
async function previewAdopt(ports: QueryPorts, text: string): Promise<AdoptPreview> {
  const { adoptConfig } = await import('../adopt/adopt-config.ts');
  const { live, context, machine, providers } = ports;
  const { config, revision } = live.used;
  const { ownAddresses } = context;
  const variable = (name: string) => machine.env[name];
  const { program, entries } = adoptConfig(config, text, { ownAddresses, variable, presets: providers.presets() });
  return { revision, program, entries };
}

interface EnvironmentCredentialPorts {
  env: Readonly<Record<string, string | undefined>>;
  live: Pick<LiveConfig, 'used' | 'isSecretInUse'>;
  providers: Pick<ProviderKnowledge, 'presets'>;
}

/** For each preset, the first environment variable with a credential that no provider uses. */
function findEnvironmentCredentials({ env, live, providers }: EnvironmentCredentialPorts): EnvironmentCredential[] {
  const references = new Set(
    live.used.config.providers.flatMap(({ credentials }) => credentials.map(({ secret }) => secret)),
  );
  return providers.presets().flatMap((preset) => {
    const variable = preset.environment.find((name) => isCredential(env[name]));
    const value = variable && env[variable]?.trim();
    if (!variable || !value || references.has(`env:${variable}`) || live.isSecretInUse(value)) return [];
    return [{ preset: preset.id, variable }];
  });
}

/** A key of Sluice itself, which users often have in `OPENAI_API_KEY`, is not a provider's credential. */
function isCredential(value: string | undefined): boolean {
  return value !== undefined && value.trim() !== '' && !value.startsWith(keyPrefix);
}

/** Of a person, over all of their keys. */
function limitUseOf({ live, views }: Pick<QueryPorts, 'live' | 'views'>, personId: string): LimitMeter[] {
  const limited = compilePersonLimits(live.snapshot.settings.people).of(personId);
  return limited ? views.meters(limited) : [];
}

const viewCaller = (ports: QueryPorts, person: Person | null): QueryResults['who-am-i'] => ({
  person,
  signsIn: ports.people !== null,
  limitUse: person ? limitUseOf(ports, person.id) : [],
});

async function viewPeople(ports: QueryPorts): Promise<PersonView[]> {
  const people = await whereSignedIn(ports.people).list();
  const { people: settings } = ports.live.snapshot.settings;
  const limits = compilePersonLimits(settings);
  const hasOwn = new Set(settings?.personLimitsOf.map(({ person }) => person));
  return people.map((person) => ({
    ...person,
    limits: limits.of(person.id)?.limits ?? null,
    hasOwnLimits: hasOwn.has(person.id),
    limitUse: limitUseOf(ports, person.id),
  }));
}
