/** Compiles configuration, secrets and discovered models into a `Snapshot`. Pure. */
import type { Config, GroupConfig, ProviderConfig } from '../contract/config.ts';
import { defaultTimeouts } from '../contract/policy.ts';
import { chatFlavourOf } from '../providers/chat-flavours.ts';
import { dialects, prefillOf, servedWires } from '../providers/dialects.ts';
import { isVendorHost } from '../providers/presets.ts';
import type { ModelInfo, UpstreamCredential } from '../providers/upstream.ts';
import { credentialSecretName } from '../secrets/secret-store.ts';
import {
  aliasesByName,
  compileGroup,
  compileGroupOfKey,
  type KnownRoutings,
  type RoutingParts,
} from './compile-group.ts';
import { compileKeys, compilePersonLimits } from './compile-keys.ts';
import { type CompiledGroup, type CompiledProvider, compileSourceRules, type Snapshot } from './snapshot.ts';

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
