/** Compiles configuration, secrets and discovered models into a `Snapshot`. Pure. */
import { hash } from 'node:crypto';
import type { Config, GroupConfig, KeyConfig, ProviderConfig } from '../contract/config.ts';
import { defaultTimeouts } from '../contract/policy.ts';
import { prefillOf } from '../providers/prefill.ts';
import { dialects } from '../providers/registry.ts';
import { servedWires } from '../providers/served-wires.ts';
import type { ModelInfo, UpstreamCredential } from '../providers/upstream.ts';
import { credentialSecretName, keySecretName } from '../secrets/secret-store.ts';
import { trimSecret } from '../wire/client-credentials.ts';
import { compileGroup, type KnownRoutings } from './compile-group.ts';
import { compileLimits } from './compile-limits.ts';
import { matchesAny } from './pattern.ts';
import type { CompiledGroup, CompiledKey, CompiledProvider, Snapshot } from './snapshot.ts';

export interface CompileInput {
  config: Config;
  revision: number;
  /** Secret values by name (`provider/…`, `key/…`). */
  secrets: ReadonlyMap<string, string>;
  /** Discovered models by provider id; absent for providers not asked yet. */
  discovered: ReadonlyMap<string, ReadonlyMap<string, ModelInfo>>;
  /** The running demo provider; null if it is off. */
  demo: ProviderConfig | null;
  /** Sluice's own addresses: `127.0.0.1:4810`. */
  ownAddresses: ReadonlySet<string>;
}

export function compileSnapshot(input: CompileInput): Snapshot {
  const { config } = input;
  const providers = new Map<string, CompiledProvider>();
  for (const provider of input.demo ? [...config.providers, input.demo] : config.providers) {
    providers.set(provider.id, compileProvider(provider, input));
  }
  const groups = new Map(config.groups.map((group) => [group.id, group]));
  const compiled = new Map<string, CompiledGroup>();
  const routings: KnownRoutings = new Map();
  return {
    revision: input.revision,
    settings: config.settings,
    ...compileKeys(config.keys, groups, input.secrets),
    providers,
    group(id) {
      const group = groups.get(id);
      let result = compiled.get(id);
      if (!result && group) {
        result = compileGroup(group, config.aliases, providers, routings);
        compiled.set(id, result);
      }
      return result;
    },
  };
}

function compileProvider(provider: ProviderConfig, input: CompileInput): CompiledProvider {
  const url = new URL(provider.baseUrl);
  const dialect = dialects[provider.dialect];
  const credentials = compileCredentials(provider, input.secrets);
  const listed = provider.models === 'discover' ? undefined : provider.models;
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
    proxy: provider.proxy,
    askUsage: provider.askUsage,
    servedWires: servedWires(provider),
    contextTokens: provider.contextTokens ?? null,
    discoversModels: !listed,
    models: listed
      ? new Map(listed.filter((name) => name !== '*').map((name) => [name, { created: 0, ownedBy: provider.id }]))
      : (discovered ?? new Map()),
    // Until the first discovery has finished, the provider is asked for any name rather than refusing requests.
    anyModel: listed ? listed.includes('*') : discovered === undefined || dialect.hasUnlistedModels === true,
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
  if (leadsBack(url, ownAddresses)) return 'its base URL leads back to Sluice itself';
  if (provider.credentials.length > 0 && credentials.length === 0) return 'no enabled credential has a value';
  return null;
}

/** All host names of this machine in the forms that `URL` produces; `[::ffff:7f00:1]` is 127.0.0.1 mapped to IPv6. */
const ownNames = /^((.*\.)?localhost\.?|127(\.\d+){3}|0\.0\.0\.0|\[::1?\]|\[::ffff:(7f..:[\da-f]+|0:0)\])$/;

/** Whether a base URL points to this gateway itself, which would loop. */
export function leadsBack(url: URL, ownAddresses: ReadonlySet<string>): boolean {
  const host = ownNames.test(url.hostname) ? '127.0.0.1' : url.hostname;
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  return ownAddresses.has(`${host}:${port}`);
}

/** If several keys have the same secret, the first one counts. */
function compileKeys(
  configured: readonly KeyConfig[],
  groups: ReadonlyMap<string, GroupConfig>,
  secrets: ReadonlyMap<string, string>,
): Pick<Snapshot, 'keys' | 'notices'> {
  const keys = new Map<string, CompiledKey>();
  const previous: CompiledKey[] = [];
  const notices: string[] = [];
  const enabled = countEnabled(configured);
  for (const key of configured) {
    const cassette = cassetteOf(key, groups.get(key.group));
    const compiled = compileKey(key, secrets, cassette, (enabled.get(key.group) ?? 0) > 1);
    if (!compiled) continue;
    const first = keys.get(compiled.digestName);
    if (first) {
      notices.push(`Key "${key.id}" has the same secret as key "${first.id}" and is not used: give it one of its own.`);
      continue;
    }
    keys.set(compiled.digestName, compiled.key);
    if (key.previous) previous.push(withPreviousSecret(compiled.key, key.previous));
  }
  // After all present secrets, which go before.
  for (const key of previous) {
    const name = nameOf(key.digest);
    if (!keys.has(name)) keys.set(name, key);
  }
  return { keys, notices };
}

/** By group. */
function countEnabled(keys: readonly KeyConfig[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { group, enabled } of keys) if (enabled) counts.set(group, (counts.get(group) ?? 0) + 1);
  return counts;
}

interface NamedKey {
  /** Of its digest, as in `Snapshot.keys`. */
  digestName: string;
  key: CompiledKey;
}

/** Of the configuration before, since a change leaves most of very many keys as they are. */
const compiledBefore = new WeakMap<KeyConfig, NamedKey>();

function compileKey(
  key: KeyConfig,
  secrets: ReadonlyMap<string, string>,
  cassette: CompiledKey['cassette'],
  sharesGroup: boolean,
): NamedKey | null {
  const before = compiledBefore.get(key);
  if (before && before.key.cassette === cassette && before.key.sharesGroup === sharesGroup) return before;
  const digest = digestOf(key, secrets);
  if (!digest) return null;
  const compiled: CompiledKey = {
    id: key.id,
    digest,
    name: key.name ?? key.id,
    groupId: key.group,
    capture: key.capture ?? false,
    faults: key.faults ?? false,
    cassette,
    sharesGroup,
    limited: compileLimits('key', key),
    enabled: key.enabled,
    expiresAtMs: key.expiresAt ? Date.parse(key.expiresAt) : null,
    allowsModel: key.models ? matchesAny(key.models) : null,
    replacedAtMs: null,
  };
  const named = { digestName: nameOf(digest), key: compiled };
  // The value of a secret that is only referred to may be another one next time.
  if (key.hash) compiledBefore.set(key, named);
  return named;
}

const nameOf = (digest: Buffer) => digest.toString('latin1');

function cassetteOf({ cassette: own }: KeyConfig, group: GroupConfig | undefined): CompiledKey['cassette'] {
  if (own === undefined) return group?.cassette ?? null;
  return own === 'off' ? null : own;
}

function withPreviousSecret(key: CompiledKey, { hash, until }: NonNullable<KeyConfig['previous']>): CompiledKey {
  return { ...key, digest: bytesOfHash(hash), replacedAtMs: Date.parse(until) };
}

/** Keys have 250 random bits, so a plain hash is safe; a password hash would cost time on each request. */
function digestOf(key: KeyConfig, secrets: ReadonlyMap<string, string>): Buffer | null {
  if (key.hash) return bytesOfHash(key.hash);
  const secret = trimSecret(secrets.get(keySecretName(key.id)) ?? '');
  // An empty secret, such as an empty environment variable, must not match requests without a key.
  return secret ? hash('sha256', secret, 'buffer') : null;
}

function bytesOfHash(text: string): Buffer {
  return Buffer.from(text.slice('sha256:'.length), 'hex');
}
