import { hash } from 'node:crypto';
import { type Config, type ConfigInput, configSchema } from '../../server/contract/config.ts';
import { GatewayError } from '../../server/contract/errors.ts';
import type { Capability } from '../../server/contract/operations.ts';
import { type CompileInput, compileSnapshot } from '../../server/routing/compile.ts';
import { listModels, resolveDefault, resolveRoute, retrieveModel } from '../../server/routing/resolve.ts';
import type { CompiledProvider, Snapshot } from '../../server/routing/snapshot.ts';

// Resolves models in a compiled configuration.

export type Parts = Omit<ConfigInput, 'version'>;

/** The rights of a key in a configuration. By default, keys are `k` and groups `g`. */
export function asking(config: Parts, keyId = 'k', found: Record<string, string[]> = {}) {
  const keys = config.keys ?? [{ id: 'k', group: 'g', hash: hashOf('k') }];
  const info = { created: 1, ownedBy: 'o' };
  const discovered = new Map(
    Object.entries(found).map(([id, names]) => [id, new Map(names.map((name) => [name, info]))]),
  );
  const snapshot = snapshotOf({ groups: [{ id: 'g' }], ...config, keys }, { discovered });
  const key = [...snapshot.keys.values()].find(({ id }) => id === keyId);
  const group = key && snapshot.groupOf(key);
  if (!key || !group) throw new Error('unreachable');
  return {
    list: () => listModels(group, key).map(({ id }) => id),
    /** `provider:model` in order, or the code of the refusal. */
    call(model: string): string[] | string {
      return orCode(() =>
        resolveRoute(group, key, model).targets.map(({ provider, model: name }) => `${provider.id}:${name}`),
      );
    },
    callDefault(capability: Capability): string[] | string {
      return orCode(() =>
        resolveDefault(group, key, capability).targets.map(({ provider, model }) => `${provider.id}:${model}`),
      );
    },
    refusal: (model: string) => messageOf(() => resolveRoute(group, key, model)),
    defaultRefusal: (capability: Capability) => messageOf(() => resolveDefault(group, key, capability)),
    retrieve: (model: string) => orCode(() => [retrieveModel(group, key, model)]),
  };
}

export function orCode<T>(work: () => T): T | string {
  try {
    return work();
  } catch (error) {
    if (error instanceof GatewayError) return error.code;
    throw error;
  }
}

export function messageOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof GatewayError) return error.message;
  }
  throw new Error('it was not refused');
}

export function hashOf(secret: string): string {
  return `sha256:${hash('sha256', secret, 'hex')}`;
}

export function provider(id: string, models: 'discover' | string[], more: object = {}) {
  return { id, baseUrl: `https://${id}.example/v1`, models, ...more };
}

export const none = 'model_not_found';

interface SnapshotOptions extends Partial<Omit<CompileInput, 'config' | 'secrets'>> {
  /** By secret name, such as `provider/main/c1`. */
  secrets?: Record<string, string>;
}

/** The snapshot of a configuration, without a gateway. */
export function snapshotOf(config: Omit<ConfigInput, 'version'>, options: SnapshotOptions = {}): Snapshot {
  return compiledFrom(configSchema.parse({ version: 1, ...config }), options);
}

/** The snapshot of a configuration that the schema has parsed. */
export function compiledFrom(config: Config, options: SnapshotOptions = {}): Snapshot {
  return compileSnapshot({
    discovered: new Map(),
    demo: null,
    ownAddresses: new Set(),
    ...options,
    config,
    secrets: new Map(Object.entries(options.secrets ?? {})),
  });
}

type ProviderInput = NonNullable<ConfigInput['providers']>[number];

/** A provider in the form that requests use. If `credential` is given, it is sent with each call. */
export function compiledProvider(
  provider: Partial<ProviderInput> & { baseUrl: string },
  credential?: string,
): CompiledProvider {
  const id = provider.id ?? 'main';
  const credentials = credential === undefined ? [] : [{ id: 'c1' }];
  const snapshot = snapshotOf(
    { providers: [{ id, credentials, ...provider }] },
    { secrets: { [`provider/${id}/c1`]: credential ?? '' } },
  );
  const compiled = snapshot.providers.get(id);
  if (!compiled) throw new Error('unreachable');
  return compiled;
}
