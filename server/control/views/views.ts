/** Views of the configuration and its running state. They contain no secrets, only whether a secret exists. */
import type { AliasView, GroupView, KeyView } from '../../contract/access-views.ts';
import type { Config, GroupConfig, KeyConfig, ProviderConfig } from '../../contract/config.ts';
import type { ConfigViews } from '../../contract/events.ts';
import { type Found, fitting, maxReported, type Wanted } from '../../contract/find.ts';
import {
  type CountedScope,
  expiryConcern,
  type Limited,
  type LimitMeter,
  needsAttention,
} from '../../contract/limits.ts';
import type { CredentialView, DiscoveryView, ProviderView } from '../../contract/provider-views.ts';
import type { RefusalView } from '../../contract/request-views.ts';
import type { NetworkView, StatusView } from '../../contract/status-views.ts';
import { isLocalFree } from '../../providers/detect-local.ts';
import { compileLimits } from '../../routing/compile-keys.ts';
import type { Snapshot } from '../../routing/snapshot.ts';
import { credentialSecretName } from '../../secrets/secret-store.ts';
import type { Authorities } from '../../transport/authorities.ts';
import type { ProxySettings } from '../../transport/proxy-choice.ts';
import type { Transport } from '../../transport/transport.ts';
import { findById } from '../entries/change-list.ts';
import { withoutSecrets } from '../entries/provider-secrets.ts';
import type { HealthViews } from './view-health.ts';

/** The running state that views need. */
export interface EngineState {
  /** The configuration that `snapshot` was compiled from. */
  config(): Config;
  snapshot(): Snapshot;
  /** The running demo provider. */
  demo(): ProviderConfig | null;
  /** Whether a secret with that name exists. */
  hasSecret(name: string): boolean;
  /** For providers whose models are discovered. */
  discovery(providerId: string): DiscoveryView;
  health: HealthViews;
  /** By key id, Unix milliseconds. */
  lastUsed(): ReadonlyMap<string, number>;
  /** The present usage of limits. */
  meters(limited: Limited): LimitMeter[];
  refusals(): RefusalView[];
  status(): StatusView;
}

export interface Views {
  all(): ConfigViews;
  status(): StatusView;
  /** Throws GatewayError `not_found`, as `key` and `group` do. */
  provider(id: string): ProviderView;
  providers(): ProviderView[];
  key(id: string): KeyView;
  keys(): KeyView[];
  findKeys(query: LimitedQuery): Found<KeyView>;
  /** The keys that events contain: the first of all, or of those with these ids. */
  reportedKeys(ids?: ReadonlySet<string>): Pick<ConfigViews, 'keys' | 'keyCount'>;
  group(id: string): GroupView;
  groups(): GroupView[];
  findGroups(query: LimitedQuery): Found<GroupView>;
  /** The groups that events contain: the first of all, or of those with these ids. */
  reportedGroups(ids?: ReadonlySet<string>): Pick<ConfigViews, 'groups' | 'groupCount'>;
  aliases(): AliasView[];
  /** Keys and groups with limits. */
  /** Keys and groups with limits. */
  limited(): (Limited & { scope: CountedScope })[];
  meters(limited: Limited): LimitMeter[];
}

/** `needsAttention`: only keys that need attention. */
type LimitedQuery = Wanted & { needsAttention?: boolean; limit: number };

export function createViews(state: EngineState): Views {
  const current = state.config;
  const providerConfigs = () => {
    const demo = state.demo();
    return demo ? [...current().providers, demo] : current().providers;
  };
  const views: Views = {
    all: () => ({
      status: views.status(),
      providers: views.providers(),
      ...views.reportedKeys(),
      ...views.reportedGroups(),
      aliases: views.aliases(),
      refusals: state.refusals(),
    }),
    status: state.status,
    provider: (id) => viewProvider(findById(providerConfigs(), id, 'provider'), state),
    providers: () => providerConfigs().map((provider) => viewProvider(provider, state)),
    key: (id) => viewKey(findById(current().keys, id, 'key'), state, state.lastUsed()),
    keys() {
      const lastUsed = state.lastUsed();
      return current().keys.map((key) => viewKey(key, state, lastUsed));
    },
    findKeys({ limit, needsAttention: isConcern, ...filter }) {
      const all = fitting(current().keys, filter);
      const matches = isConcern ? all.filter((key) => keyNeedsAttention(key, state)) : all;
      const lastUsed = state.lastUsed();
      return { found: matches.slice(0, limit).map((key) => viewKey(key, state, lastUsed)), total: matches.length };
    },
    reportedKeys(ids) {
      const { found, total } = views.findKeys({ ids: ids && [...ids], limit: maxReported });
      return { keys: found, keyCount: total };
    },
    group(id) {
      const group = findById(current().groups, id, 'group');
      return viewGroup(group, current().keys.filter((key) => key.group === id).length, state);
    },
    groups() {
      const counts = keyCounts(current().keys);
      return current().groups.map((group) => viewGroup(group, counts.get(group.id) ?? 0, state));
    },
    findGroups({ limit, needsAttention: isConcern, ...filter }) {
      const all = fitting(current().groups, filter);
      const matches = isConcern ? all.filter((group) => needsAttention(metersOf('group', group, state))) : all;
      const counts = keyCounts(current().keys);
      const found = matches.slice(0, limit).map((group) => viewGroup(group, counts.get(group.id) ?? 0, state));
      return { found, total: matches.length };
    },
    reportedGroups(ids) {
      const { found, total } = views.findGroups({ ids: ids && [...ids], limit: maxReported });
      return { groups: found, groupCount: total };
    },
    aliases: () => current().aliases,
    limited: () => [...limitedOf('key', current().keys), ...limitedOf('group', current().groups)],
    meters: state.meters,
  };
  return views;
}

function viewProvider(config: ProviderConfig, state: EngineState): ProviderView {
  const compiled = state.snapshot().providers.get(config.id);
  if (!compiled) throw new Error(`provider "${config.id}" is in the configuration but was not compiled`);
  const { baseUrl, headers, proxy } = withoutSecrets(config);
  return {
    id: config.id,
    name: config.name ?? config.id,
    preset: config.preset ?? null,
    isDemo: config === state.demo(),
    dialect: config.dialect,
    baseUrl,
    enabled: config.enabled,
    credentials: config.credentials.map((credential) => viewCredential(config, credential, state)),
    headers,
    models: config.models,
    timeouts: config.timeouts,
    proxy,
    apiVersion: config.apiVersion ?? null,
    contextTokens: config.contextTokens ?? null,
    askUsage: config.askUsage,
    certificate: config.certificate ?? null,
    serves: config.serves ?? null,
    free: config.free ?? null,
    isFree: isLocalFree(config),
    joined: config.joined ?? false,
    unusable: compiled.unusable,
    health: state.health.provider(compiled),
    modelNames: [...compiled.models.keys()],
    takesAnyModel: compiled.anyModel,
    discovery: config.models === 'discover' ? state.discovery(config.id) : null,
  };
}

function viewCredential(
  provider: ProviderConfig,
  credential: ProviderConfig['credentials'][number],
  state: EngineState,
): CredentialView {
  return {
    id: credential.id,
    label: credential.label ?? null,
    reference: credential.secret,
    enabled: credential.enabled,
    hasSecret: state.hasSecret(credentialSecretName(provider.id, credential.id)),
    health: state.health.credential(provider.id, credential.id),
  };
}

function viewKey(key: KeyConfig, state: EngineState, lastUsed: ReadonlyMap<string, number>): KeyView {
  return {
    id: key.id,
    name: key.name ?? null,
    group: key.group,
    owner: key.owner ?? null,
    enabled: key.enabled,
    expiresAt: key.expiresAt ?? null,
    models: key.models ?? null,
    aliases: key.aliases ?? [],
    createdAt: key.createdAt ?? null,
    lastUsedAt: lastUsed.get(key.id) ?? null,
    limits: key.limits ?? null,
    limitUse: metersOf('key', key, state),
    capture: key.capture ?? false,
    faults: key.faults ?? false,
    cassette: key.cassette ?? null,
    canReveal: key.secret !== undefined,
    suffix: key.suffix ?? null,
    previousUntil: key.previous?.until ?? null,
  };
}

function viewGroup(group: GroupConfig, keyCount: number, state: EngineState): GroupView {
  return { ...group, keyCount, limitUse: metersOf('group', group, state) };
}

function keyNeedsAttention(key: KeyConfig, state: EngineState): boolean {
  const { enabled, expiresAt = null } = key;
  if (expiryConcern({ enabled, expiresAt }, Date.now()) !== null) return true;
  return needsAttention(metersOf('key', key, state));
}

/** Number of keys by group. */
export function keyCounts(keys: readonly KeyConfig[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { group } of keys) counts.set(group, (counts.get(group) ?? 0) + 1);
  return counts;
}

function limitedOf<Scope extends CountedScope>(
  scope: Scope,
  configs: readonly (KeyConfig | GroupConfig)[],
): (Limited & { scope: Scope })[] {
  return configs.flatMap((config) => compileLimits(scope, config) ?? []);
}

function metersOf(scope: CountedScope, config: KeyConfig | GroupConfig, state: EngineState): LimitMeter[] {
  const limited = compileLimits(scope, config);
  return limited ? state.meters(limited) : [];
}

interface NetworkPorts {
  transport: Pick<Transport, 'chainTo'>;
  authorities: Pick<Authorities, 'view'>;
  proxies: ProxySettings;
}

/**
 * How each provider is reached now, and the trusted certificate authorities. User names and passwords of proxies are
 * omitted.
 */
export async function viewNetwork(
  { transport, authorities, proxies }: NetworkPorts,
  { providers }: Snapshot,
): Promise<NetworkView> {
  const ways = [...providers.values()].map(async ({ id, name, endpoint, proxy }) => {
    const { by, hops, unusable } = await transport.chainTo(endpoint.origin, proxy);
    return { provider: id, name, by, proxies: hops.map((hop) => hop?.host ?? null), unusable: [...unusable] };
  });
  return {
    ways: await Promise.all(ways),
    asksSystem: proxies.askSystem !== undefined,
    noProxy: proxies.noProxy ?? null,
    authorities: await authorities.view(),
  };
}
