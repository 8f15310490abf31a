/** Resolves models in a compiled configuration. */
import { hash } from 'node:crypto';
import type { ConfigInput } from '../../../server/contract/config.ts';
import { GatewayError } from '../../../server/contract/errors.ts';
import type { Capability } from '../../../server/contract/operations.ts';
import { listModels, resolveDefault, resolveRoute, retrieveModel } from '../../../server/routing/resolve.ts';
import { snapshotOf } from '../../support/providers.ts';

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
