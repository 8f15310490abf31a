/** Compiles configuration, secrets and discovered models into a `Snapshot`. Pure. */
import {
  type AliasConfig,
  type Config,
  demoProviderId,
  type GroupConfig,
  type ProviderConfig,
} from '../contract/config.ts';
import { defaultGroupId, passesThrough } from '../contract/operations.ts';
import { defaultTimeouts } from '../contract/policy.ts';
import { chatFlavourOf } from '../providers/chat-flavours.ts';
import { dialects, prefillOf, servedWires } from '../providers/dialects.ts';
import { isVendorHost } from '../providers/presets.ts';
import type { ModelInfo, UpstreamCredential } from '../providers/upstream.ts';
import { credentialSecretName } from '../secrets/secret-store.ts';
import { compileDenied, compileKeys, compileLimits, compilePersonLimits, matchesAny } from './compile-keys.ts';
import { anyNameLast } from './picker.ts';
import {
  type CompiledGroup,
  type CompiledKey,
  type CompiledProvider,
  compileSourceRules,
  compileTimeouts,
  type ModelRoute,
  type RankedProvider,
  type Snapshot,
  type Target,
} from './snapshot.ts';

export interface CompileInput {
  config: Config;
  /** Secret values by name (`provider/…`, `key/…`). */
  secrets: ReadonlyMap<string, string>;
  /** Discovered models by provider id; absent for providers not asked yet. */
  discovered: ReadonlyMap<string, ReadonlyMap<string, ModelInfo>>;
  /** The running demo provider; null if it is off. */
  demo: ProviderConfig | null;
  /** Sluice's own addresses: `127.0.0.1:4810`. */
  ownAddresses: ReadonlySet<string>;
  /** As browsers see Sluice: `https://gateway.example`; absent without a public address. */
  publicOrigin?: string | undefined;
  /** The previous snapshot, whose unchanged parts may be reused. */
  before?: Snapshot | undefined;
}

export function compileSnapshot(input: CompileInput): Snapshot {
  const { config } = input;
  const providers = new Map<string, CompiledProvider>();
  for (const provider of input.demo ? [...config.providers, input.demo] : config.providers) {
    providers.set(provider.id, compileProvider(provider, input));
  }
  const groups = new Map(config.groups.map((group) => [group.id, group]));
  return {
    settings: config.settings,
    source: compileSourceRules(config.settings, input.publicOrigin ?? null),
    ...compileKeys(
      {
        configured: config.keys,
        groups: config.groups,
        secrets: input.secrets,
        personLimits: compilePersonLimits(config.settings.people),
      },
      input.before,
    ),
    providers,
    hasOneGroup: groups.size === 1,
    ...groupsOnUse(groups, { aliases: aliasesByName(config.aliases), providers }),
  };
}

function groupsOnUse(
  groups: ReadonlyMap<string, GroupConfig>,
  parts: RoutingParts,
): Pick<Snapshot, 'group' | 'groupOf'> {
  const compiled = new Map<string, CompiledGroup>();
  const ofKeys = new Map<string, CompiledGroup>();
  const routings: KnownRoutings = new Map();
  const group = (id: string) => {
    const configured = groups.get(id);
    let result = compiled.get(id);
    if (!result && configured) {
      result = compileGroup(configured, parts, routings);
      compiled.set(id, result);
    }
    return result;
  };
  return {
    group,
    groupOf({ id, groupId, aliases, allowsModel }) {
      if (aliases === null) return group(groupId);
      const configured = groups.get(groupId);
      let result = ofKeys.get(id);
      if (!result && configured) {
        result = compileGroupOfKey(configured, parts, { aliases, allowsModel });
        ofKeys.set(id, result);
      }
      return result;
    },
  };
}

export function compileProvider(
  provider: ProviderConfig,
  input: Pick<CompileInput, 'secrets' | 'discovered' | 'ownAddresses'>,
): CompiledProvider {
  const url = new URL(provider.baseUrl);
  const dialect = dialects[provider.dialect];
  const credentials = compileCredentials(provider, input.secrets);
  const configuredModels = provider.models === 'discover' ? undefined : provider.models;
  const discovered = input.discovered.get(provider.id);
  return {
    id: provider.id,
    name: provider.name ?? provider.id,
    dialect,
    endpoint: {
      origin: url.origin,
      basePath: url.pathname.replace(/(?<!\/)\/+$/, ''),
      apiVersion: provider.apiVersion,
    },
    credentials,
    headers: Object.fromEntries(Object.entries(provider.headers).map(([name, value]) => [name.toLowerCase(), value])),
    timeouts: { ...defaultTimeouts, ...provider.timeouts },
    ownTimeouts: provider.timeouts,
    prefill: prefillOf(provider),
    chatFlavourOf: chatFlavourOf(provider),
    configuredAs: JSON.stringify(provider),
    proxy: provider.proxy,
    certificate: provider.certificate ?? null,
    askUsage: provider.askUsage,
    servedWires: servedWires(provider),
    contextTokens: provider.contextTokens ?? null,
    discoversModels: !configuredModels,
    models: configuredModels
      ? new Map(
          configuredModels.filter((name) => name !== '*').map((name) => [name, { created: 0, ownedBy: provider.id }]),
        )
      : (discovered ?? new Map()),
    // Until the first discovery has finished, any model name is sent to the provider rather than refused.
    anyModel: configuredModels
      ? configuredModels.includes('*')
      : discovered === undefined || dialect.hasUnlistedModels === true,
    unusable: whyUnusable(provider, url, credentials, input.ownAddresses),
  };
}

function compileCredentials(provider: ProviderConfig, secrets: ReadonlyMap<string, string>): UpstreamCredential[] {
  const dialect = dialects[provider.dialect];
  return provider.credentials
    .filter((credential) => credential.enabled)
    .flatMap((credential) => {
      const secret = secrets.get(credentialSecretName(provider.id, credential.id));
      if (!secret) return [];
      const signing = dialect.signing?.(secret);
      return [{ id: credential.id, headers: dialect.authorize(secret), ...(signing && { signing }) }];
    });
}

function whyUnusable(
  provider: ProviderConfig,
  url: URL,
  credentials: readonly UpstreamCredential[],
  ownAddresses: ReadonlySet<string>,
): string | null {
  if (!provider.enabled) return 'it is switched off';
  if (isOwnAddress(url, ownAddresses)) return 'its base URL leads back to Sluice itself';
  if (provider.certificate && isVendorHost(url.hostname)) return 'its certificate must be that of a trusted authority';
  if (provider.credentials.length > 0 && credentials.length === 0) return 'no enabled credential has a value';
  return null;
}

/** All host names of this machine in the forms that `URL` produces; `[::ffff:7f00:1]` is 127.0.0.1 mapped to IPv6. */
const ownNames = /^((.*\.)?localhost\.?|127(\.\d+){3}|0\.0\.0\.0|\[::1?\]|\[::ffff:(7f..:[\da-f]+|0:0)\])$/;

/** Whether a base URL points to this gateway itself, which would loop. */
export function isOwnAddress(url: URL, ownAddresses: ReadonlySet<string>): boolean {
  return ownAddresses.has(hostAndPort(url));
}

/** `127.0.0.1:4810` for all names of this machine, `gateway.example:443`. */
export function hostAndPort(url: URL): string {
  const host = ownNames.test(url.hostname) ? '127.0.0.1' : url.hostname;
  return `${host}:${url.port || (url.protocol === 'https:' ? '443' : '80')}`;
}

/** The part of a compiled group that depends only on its rules, shared by all groups with the same rules. */
type GroupRouting = Pick<
  CompiledGroup,
  'routes' | 'unservable' | 'aliases' | 'allowsModel' | 'mayAsk' | 'allowsAllModels' | 'providers' | 'timeouts'
>;

/** Keyed by the rules as text. Among very many groups, most have the same rules, and lists of models are long. */
type KnownRoutings = Map<string, GroupRouting>;

type Aliases = ReadonlyMap<string, AliasConfig>;

/** What the routing of a group is made of besides its rules. */
interface RoutingParts {
  /** Those of the configuration. */
  aliases: Aliases;
  providers: ReadonlyMap<string, CompiledProvider>;
}

/** Compiles groups: their models, routes and passthrough. Pure. */
export function aliasesByName(aliases: readonly AliasConfig[]): Aliases {
  return new Map(aliases.map((alias) => [alias.name, alias]));
}

/** `routings`: compiled before from the same parts. */
export function compileGroup(
  group: GroupConfig,
  parts: RoutingParts,
  routings: KnownRoutings = new Map(),
): CompiledGroup {
  const { models, deny, order, policy } = group;
  const rules = JSON.stringify([models, deny, group.providers, order, policy.timeouts]);
  let routing = routings.get(rules);
  if (!routing) {
    routing = compileRouting(group, parts.providers, { aliases: parts.aliases, mayLead: null });
    routings.set(rules, routing);
  }
  return withRouting(group, routing);
}

/** The group as a key sees it that has aliases of its own. */
function compileGroupOfKey(
  group: GroupConfig,
  parts: RoutingParts,
  { aliases: own, allowsModel }: Pick<CompiledKey, 'allowsModel'> & { aliases: readonly AliasConfig[] },
): CompiledGroup {
  const ownNames = new Set(own.map(({ name }) => name));
  const isAllowed = ownTargetRule(group, allowsModel, parts.aliases);
  const mayLead: MayLead = (alias, target) => !ownNames.has(alias) || isAllowed(alias, target);
  const aliases = new Map([...parts.aliases, ...aliasesByName(own)]);
  return withRouting(group, compileRouting(group, parts.providers, { aliases, mayLead }));
}

type OwnTarget = Pick<AliasConfig['targets'][number], 'provider' | 'model'>;
type MayLead = (alias: string, target: OwnTarget) => boolean;

/**
 * Where an alias of a key may lead: to what the key may ask for by its own name, and to the targets of the alias in whose
 * place it stands. So it opens nothing that group and key do not.
 */
export function ownTargetRule(
  group: Pick<GroupConfig, 'models' | 'deny' | 'providers'>,
  keyAllows: CompiledKey['allowsModel'],
  shared: Aliases,
): MayLead {
  const isOfGroup = matchesAny(group.providers);
  const groupAllows = matchesAny(group.models);
  const isDenied = compileDenied(group.deny);
  return (alias, { provider, model }) => {
    if (!isOfGroup(provider) || isDenied(model, provider)) return false;
    const names = [`${provider}/${model}`, model];
    if (names.some(groupAllows) && (!keyAllows || names.some(keyAllows))) return true;
    const targets = shared.get(alias)?.targets ?? [];
    return targets.some((target) => target.provider === provider && target.model === model);
  };
}

function withRouting(group: GroupConfig, routing: GroupRouting): CompiledGroup {
  const { id, capture, captureOnRequest, unpriced, deleteUnknown, defaults, policy, cache } = group;
  return {
    ...{ id, capture, captureOnRequest, unpriced, deleteUnknown, defaults, policy, cache },
    ...routing,
    limited: compileLimits('group', group),
    passthrough: compilePassthrough(group, routing.providers),
  };
}

/** Computes the models that a group may use, and the ordered targets of each. `mayLead` null: any alias to any target. */
function compileRouting(
  group: Pick<GroupConfig, 'models' | 'deny' | 'providers' | 'order' | 'policy'>,
  providers: ReadonlyMap<string, CompiledProvider>,
  { aliases, mayLead }: { aliases: Aliases; mayLead: MayLead | null },
): GroupRouting {
  const allowed = matchesAny(group.models);
  const isDenied = compileDenied(group.deny);
  // They mean nothing else, even to a provider that accepts any name.
  const bannedAliases = new Set<string>();
  const allowsModel = (name: string, meant: string | null = null) =>
    (allowed(name) || (meant !== null && allowed(meant))) && !isDenied(name) && !bannedAliases.has(name);
  const mayAsk = ({ provider, model }: Pick<Target, 'provider' | 'model'>) =>
    model === null || !isDenied(model, provider.id);
  const rankedProviders = rankProviders(group, providers);
  const routes = new Map<string, ModelRoute>();
  const unservable = new Map<string, string>();
  for (const alias of aliases.values()) {
    const meant = allowsModel(alias.name) ? aliasTargets(alias, rankedProviders) : [];
    const led = ({ provider, model }: Target) =>
      !mayLead || (model !== null && mayLead(alias.name, { provider: provider.id, model }));
    const all = meant.filter((target) => mayAsk(target) && led(target));
    if (all.length < meant.length && all.length === 0) bannedAliases.add(alias.name);
    const usable = all.filter(({ provider }) => !provider.unusable);
    if (usable.length > 0) routes.set(alias.name, toRoute(alias.name, { created: 0, ownedBy: 'sluice' }, usable));
    else if (all.length > 0) unservable.set(alias.name, reasonsOf(all));
  }
  for (const { provider } of rankedProviders) {
    if (provider.unusable) continue;
    for (const [name, info] of provider.models) {
      if (routes.has(name) || unservable.has(name) || !allowsModel(name)) continue;
      const targets = servers(name, rankedProviders).filter(mayAsk);
      if (targets.length > 0) routes.set(name, toRoute(name, info, targets));
    }
  }
  return {
    routes: new Map([...routes].sort(([a], [b]) => (a < b ? -1 : 1))),
    unservable,
    aliases,
    allowsModel,
    mayAsk,
    allowsAllModels: group.models.includes('*') && group.deny.length === 0,
    providers: rankedProviders,
    timeouts: new Map(
      [...providers.values()].map(({ id, ownTimeouts }) => [
        id,
        compileTimeouts({ ...group.policy.timeouts, ...ownTimeouts }),
      ]),
    ),
  };
}

/** In the group's `order`; providers that it does not list follow in the configuration's order. */
function rankProviders(
  group: Pick<GroupConfig, 'providers' | 'order'>,
  providers: ReadonlyMap<string, CompiledProvider>,
): RankedProvider[] {
  const allowed = matchesAny(group.providers);
  const rankedProviders: RankedProvider[] = [];
  for (const provider of providers.values()) {
    if (!allowed(provider.id)) continue;
    const placement = group.order.find((entry) => entry.provider === provider.id);
    rankedProviders.push({
      provider,
      priority: placement?.priority ?? unplacedPriority + rankedProviders.length,
      weight: placement?.weight ?? 1,
    });
  }
  return rankedProviders.sort((a, b) => a.priority - b.priority);
}

/** Above any priority that the configuration allows. */
const unplacedPriority = 10_000;

/** The usable providers that serve a model name, in order; those that only accept any name come last. */
export function servers(name: string, rankedProviders: readonly RankedProvider[]): readonly Target[] {
  const targets: Target[] = [];
  for (const { provider, priority, weight } of rankedProviders) {
    if (provider.unusable) continue;
    if (provider.models.has(name)) targets.push({ provider, model: name, priority, weight });
    else if (provider.anyModel) targets.push({ provider, model: name, priority, weight, takesAnyName: true });
  }
  return anyNameLast(targets.sort((a, b) => a.priority - b.priority));
}

/** The targets whose provider the group may use, including unusable ones. */
function aliasTargets(alias: AliasConfig, rankedProviders: readonly RankedProvider[]): Target[] {
  return alias.targets
    .flatMap((target) => {
      const provider = rankedProviders.find((entry) => entry.provider.id === target.provider)?.provider;
      if (!provider) return [];
      const { model, priority, weight, contextTokens } = target;
      return [{ provider, model, priority, weight, ...(contextTokens !== undefined && { contextTokens }) }];
    })
    .sort((a, b) => a.priority - b.priority);
}

/** Why none of these can be used, for a person. */
export function reasonsOf(unusable: readonly Pick<Target, 'provider'>[]): string {
  const reasons = unusable.map(({ provider }) => `provider "${provider.id}": ${provider.unusable}`);
  return [...new Set(reasons)].join('; ');
}

function toRoute(id: string, info: ModelInfo, targets: readonly Target[]): ModelRoute {
  return { listed: { id, created: info.created, ownedBy: info.ownedBy }, targets };
}

/** Selects a group's passthrough provider. If none is set, the first group uses its only provider; other groups have none. */
function compilePassthrough(
  { id, passthrough }: GroupConfig,
  rankedProviders: readonly RankedProvider[],
): CompiledGroup['passthrough'] {
  const setting = `"passthrough" of group "${id}"`;
  if (passthrough === null) return { provider: null, why: `${setting} is off` };
  const real = rankedProviders.map(({ provider }) => provider).filter((provider) => provider.id !== demoProviderId);
  if (passthrough === undefined) {
    const [first, ...others] = real;
    if (id !== defaultGroupId || !first || others.length > 0) return { provider: null, why: `${setting} is not set` };
    return passesThrough[first.dialect.id]
      ? { provider: first }
      : { provider: null, why: `${setting} is not set, and its only provider speaks another API` };
  }
  const provider = real.find((each) => each.id === passthrough);
  if (provider) return { provider };
  return { provider: null, why: `${setting} names provider "${passthrough}", which the group may not use` };
}
