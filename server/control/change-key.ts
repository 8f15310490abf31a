import type { CommandResults } from '../contract/commands.ts';
import { type Config, type KeyConfig, keySchema } from '../contract/config.ts';
import { controlError } from '../contract/control-error.ts';
import { keySecretName } from '../secrets/secret-store.ts';
import type { Change, Changer } from './change.ts';
import { applyChanges, findById, putById, withoutId } from './change-list.ts';
import { chooseId } from './choose-id.ts';
import { hashKeySecret } from './hash-key-secret.ts';

export const createKey: Changer<'key.create'> = (config, command, context) => {
  const { name, group, enabled, expiresAt, models, limits, keepSecret } = command;
  requireGroup(config, group);
  const taken = config.keys.map((key) => key.id);
  const id = chooseId(command.id, [name], taken, 'key-');
  const key: KeyConfig = {
    id,
    ...(name && { name }),
    group,
    enabled,
    ...(expiresAt && { expiresAt }),
    ...(models && { models }),
    ...(limits && { limits }),
    createdAt: new Date(context.now()).toISOString(),
  };
  return withNewSecret(config, key, { secret: context.createKeySecret(), keepSecret });
};

export const updateKey: Changer<'key.update'> = (config, { id, changes }) => {
  const key = findById(config.keys, id, 'key');
  if (changes.group !== undefined) requireGroup(config, changes.group);
  return {
    config: { ...config, keys: putById(config.keys, keySchema.parse(applyChanges(key, changes))) },
    result: ({ revision, views }) => ({ revision, key: views.key(id) }),
  };
};

export const rotateKey: Changer<'key.rotate'> = (config, command, context) => {
  const key = findById(config.keys, command.id, 'key');
  const keepSecret = command.keepSecret ?? key.secret === 'keychain';
  const change = withNewSecret(config, key, { secret: context.createKeySecret(), keepSecret });
  return keepSecret || key.secret !== 'keychain' ? change : { ...change, deleteAfter: [keySecretName(key.id)] };
};

export const revokeKey: Changer<'key.revoke'> = (config, { id }) => {
  const key = findById(config.keys, id, 'key');
  return {
    config: { ...config, keys: withoutId(config.keys, id) },
    ...(key.secret === 'keychain' && { deleteAfter: [keySecretName(id)] }),
    result: ({ revision }) => ({ revision }),
  };
};

/** The configuration gets the hash; the secret goes to the caller and, with `keepSecret`, into the secret store. */
function withNewSecret(
  config: Config,
  key: KeyConfig,
  { secret, keepSecret }: { secret: string; keepSecret: boolean },
): Change<CommandResults['key.create']> {
  const { secret: _, ...rest } = key;
  const renewed: KeyConfig = { ...rest, hash: hashKeySecret(secret), ...(keepSecret && { secret: 'keychain' }) };
  return {
    config: { ...config, keys: putById(config.keys, renewed) },
    ...(keepSecret && { storeBefore: [{ name: keySecretName(key.id), value: secret }] }),
    result: ({ revision, views }) => ({ revision, key: views.key(key.id), secret }),
  };
}

function requireGroup(config: Config, id: string): void {
  if (config.groups.some((group) => group.id === id)) return;
  throw controlError('not_found', { code: 'no-group', id }, 'group');
}
