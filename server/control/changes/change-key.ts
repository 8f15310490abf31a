import { hash } from 'node:crypto';
import type { ConfigStore } from '../../config/config-store.ts';
import type { CommandMap, CommandResults } from '../../contract/commands.ts';
import { type Config, type KeyConfig, keySchema } from '../../contract/config.ts';
import { controlError } from '../../contract/control-error.ts';
import { GatewayError } from '../../contract/errors.ts';
import { type Limits, limitsSchema, mostBudgets } from '../../contract/limit-settings.ts';
import type { Person } from '../../contract/people.ts';
import { hourMs } from '../../contract/units.ts';
import { keySecretName, resolveSecret, type SecretStore } from '../../secrets/secret-store.ts';
import { applyChanges, chooseId, findById, nameSome, putById, withoutId } from '../entries/change-list.ts';
import type { Change, ChangeContext, Changer } from './change.ts';

export const createKey: Changer<'key.create'> = (config, command, context) => {
  const { name, group, enabled, expiresAt, models, capture, faults, cassette, keepSecret } = command;
  requireGroup(config, group);
  const owner = ownerOf(command, context.by);
  const limits = limitsOf(config, command, context.by);
  const key: KeyConfig = {
    id: idOf(config, command, context),
    ...(name && { name }),
    group,
    ...(owner && { owner }),
    enabled,
    ...(expiresAt && { expiresAt }),
    ...(models && { models }),
    ...(limits && { limits }),
    ...(capture && { capture }),
    ...(faults && { faults }),
    ...(cassette && { cassette }),
    createdAt: new Date(context.now()).toISOString(),
  };
  return withNewSecret(config, key, { secret: context.createKeySecret(), keepSecret });
};

/** For administrators, the id is derived from the key's name. Others must not learn which ids are taken. */
function idOf({ keys }: Config, { id, name }: CommandMap['key.create'], { by, createKeyId }: ChangeContext): string {
  if (by && !by.isAdmin) return createKeyId();
  return chooseId(
    id,
    [name],
    keys.map((key) => key.id),
    'key-',
  );
}

/** The id of the person who will own the key. */
function ownerOf({ own, group }: CommandMap['key.create'], by: Person | null): string | undefined {
  if (!by) return undefined;
  const mayHaveOthers = by.isAdmin || by.manages.includes(group);
  return (own ?? !mayHaveOthers) ? by.id : undefined;
}

/** A member can limit their own key further than the settings do, but not less. */
function limitsOf(
  { settings }: Config,
  { group, limits }: CommandMap['key.create'],
  by: Person | null,
): Limits | undefined {
  const most = settings.people?.memberKeyLimits;
  if (!by || by.isAdmin || by.manages.includes(group) || !most) return limits;
  const least = (name: 'requestsPerMinute' | 'tokensPerMinute' | 'concurrent') => {
    const rates = [most[name], limits?.[name]].filter((rate) => rate !== undefined);
    return rates.length === 0 ? undefined : Math.min(...rates);
  };
  return limitsSchema.parse({
    requestsPerMinute: least('requestsPerMinute'),
    tokensPerMinute: least('tokensPerMinute'),
    concurrent: least('concurrent'),
    budgets: [...most.budgets, ...(limits?.budgets ?? [])].slice(0, mostBudgets),
  });
}

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
  const rotated = withPrevious(key, command.graceHours, context.now());
  const change = withNewSecret(config, rotated, { secret: context.createKeySecret(), keepSecret });
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

/** `limits`: null for those of everybody. */
export const limitPerson: Changer<'person.limit'> = (config, { id, limits }) => {
  const { settings } = config;
  if (!settings.people) throw controlError('not_found', { code: 'no-sign-in' });
  const others = settings.people.personLimitsOf.filter(({ person }) => person !== id);
  const personLimitsOf = limits ? [...others, { person: id, limits }] : others;
  return {
    config: { ...config, settings: { ...settings, people: { ...settings.people, personLimitsOf } } },
    result: ({ revision }) => ({ revision }),
  };
};

/** All keys of a person; their sessions and API tokens are ended before (`execute.ts`). */
export const revokePerson: Changer<'person.revoke'> = (config, { id, keys: fate }) => {
  const owned = config.keys.filter(({ owner, enabled }) => owner === id && (enabled || fate === 'revoke'));
  const ids = owned.map((key) => key.id);
  const isOwned = new Set(ids);
  const others = config.keys.filter((key) => !isOwned.has(key.id));
  const kept = config.keys.filter(({ id: keyId, secret }) => isOwned.has(keyId) && secret === 'keychain');
  return {
    config: {
      ...config,
      keys:
        fate === 'revoke' ? others : config.keys.map((key) => (isOwned.has(key.id) ? { ...key, enabled: false } : key)),
    },
    ...(fate === 'revoke' && { deleteAfter: kept.map((key) => keySecretName(key.id)) }),
    result: ({ revision }) => ({ revision, keys: ids }),
  };
};

/** Drops the old secrets of keys whose grace period is over. */
export function withoutEndedSecrets(config: Config, nowMs: number): Config {
  const isEnded = ({ previous }: KeyConfig) => previous !== undefined && Date.parse(previous.until) <= nowMs;
  if (!config.keys.some(isEnded)) return config;
  return { ...config, keys: config.keys.map((key) => (isEnded(key) ? withoutPrevious(key) : key)) };
}

function withPrevious(key: KeyConfig, graceHours: number, nowMs: number): KeyConfig {
  if (graceHours === 0) return withoutPrevious(key);
  // The configuration does not contain the hash of a referenced secret.
  if (!key.hash) throw controlError('invalid_value', { code: 'no-grace', key: key.id }, 'graceHours');
  const graceEnd = new Date(nowMs + graceHours * hourMs).toISOString();
  return { ...key, previous: { hash: key.hash, until: graceEnd } };
}

function withoutPrevious({ previous: _, ...key }: KeyConfig): KeyConfig {
  return key;
}

/**
 * The configuration gets the hash and the last four characters. The secret is returned to the caller and, with
 * `keepSecret`, also put into the secret store.
 */
function withNewSecret(
  config: Config,
  key: KeyConfig,
  { secret, keepSecret }: { secret: string; keepSecret: boolean },
): Change<CommandResults['key.create']> {
  const { secret: _, ...rest } = key;
  const renewedKey: KeyConfig = {
    ...rest,
    hash: hashKeySecret(secret),
    suffix: secret.slice(-4),
    ...(keepSecret && { secret: 'keychain' }),
  };
  return {
    config: { ...config, keys: putById(config.keys, renewedKey) },
    ...(keepSecret && { storeBefore: [{ name: keySecretName(key.id), value: secret }] }),
    result: ({ revision, views }) => ({ revision, key: views.key(key.id), secret }),
  };
}

function requireGroup(config: Config, id: string): void {
  if (config.groups.some((group) => group.id === id)) return;
  throw controlError('not_found', { code: 'no-group', id }, 'group');
}

interface RevealPorts {
  config: ConfigStore;
  openSecrets: () => Promise<SecretStore>;
  env: Readonly<Record<string, string | undefined>>;
}

/** The secret of a key. Throws GatewayError `not_found` if it was not kept. */
export async function revealKey(ports: RevealPorts, id: string): Promise<string> {
  const key = findById(ports.config.current.config.keys, id, 'key');
  if (!key.secret) {
    throw controlError('not_found', { code: 'secret-not-kept', key: id });
  }
  const name = keySecretName(id);
  const store = key.secret === 'keychain' ? await ports.openSecrets() : { get: async () => undefined };
  const secret = await resolveSecret(key.secret, { name, store, env: ports.env });
  // After a crash during a rotation, the stored secret may not be the one in force.
  if (secret === undefined || (key.hash && key.hash !== hashKeySecret(secret))) {
    throw controlError('not_found', { code: 'secret-lost', key: id });
  }
  return secret;
}

/** The `hash` of a key in the configuration. Keys have 250 random bits, so a plain hash is safe. */
export function hashKeySecret(secret: string): string {
  return `sha256:${hash('sha256', secret)}`;
}

export const putGroup: Changer<'group.put'> = (config, { group }) => {
  if (!group.id && !group.name) throw new GatewayError('invalid_command', 'A new group needs a name or an id.');
  const usedIds = config.groups.map((each) => each.id);
  const id = group.id ?? chooseId(undefined, [group.name], usedIds, 'group-');
  return {
    config: { ...config, groups: putById(config.groups, { ...group, id }) },
    result: ({ revision, views }) => ({ revision, group: views.group(id) }),
  };
};

export const removeGroup: Changer<'group.remove'> = (config, { id }) => {
  findById(config.groups, id, 'group');
  const keys = config.keys.filter((key) => key.group === id).map((key) => key.name ?? key.id);
  if (keys.length > 0) {
    throw controlError('conflict', { code: 'group-in-use', group: id, keys: nameSome(keys) });
  }
  return { config: { ...config, groups: withoutId(config.groups, id) }, result: ({ revision }) => ({ revision }) };
};
