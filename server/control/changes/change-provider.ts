/** Changes of providers and their credentials. Pure. */
import { nameOfAddress } from '../../contract/address.ts';
import { secretValue } from '../../contract/command-fields.ts';
import {
  type Config,
  type CredentialConfig,
  demoProviderId,
  type GroupConfig,
  type KeyConfig,
  type ProviderConfig,
  providerSchema,
} from '../../contract/config.ts';
import { controlError } from '../../contract/control-error.ts';
import { GatewayError } from '../../contract/errors.ts';
import type { NewCredential, ProviderChanges } from '../../contract/provider-commands.ts';
import type { TeamPreset } from '../../contract/team-preset.ts';
import { credentialSecretName } from '../../secrets/secret-store.ts';
import { applyChanges, chooseId, findById, nameSome, putById, withoutId } from '../entries/change-list.ts';
import { checkProvider } from '../entries/provider-secrets.ts';
import type { ChangeContext, Changer } from './change.ts';
import { keyWithAliases } from './change-alias.ts';

export const addProvider: Changer<'provider.add'> = (config, command, context) => {
  const fields = withPreset(command.provider, context.preset);
  if (!fields.baseUrl) throw controlError('invalid_command', { code: 'base-url-missing' }, 'baseUrl');
  if (fields.baseUrl.includes('{'))
    throw controlError('invalid_command', { code: 'base-url-unfilled', baseUrl: fields.baseUrl }, 'baseUrl');
  const usedIds = [...config.providers.map((provider) => provider.id), demoProviderId];
  const names = [command.provider.name ?? undefined, fields.preset ?? undefined, nameOfAddress(fields.baseUrl)];
  const id = chooseId(command.id, names, usedIds, 'provider-');
  const credentials = newCredentials(command.credentials, context);
  const provider = parseProvider({
    ...applyChanges({}, fields),
    id,
    credentials: credentials.map(({ config: credential }) => credential),
  });
  checkProvider(provider, context.ownAddresses);
  return {
    config: { ...config, providers: [...config.providers, provider] },
    storeBefore: credentials.flatMap(({ config: { id: credential }, secret }) =>
      secret === undefined ? [] : [{ name: credentialSecretName(id, credential), value: secret }],
    ),
    result: ({ revision, views }) => ({ revision, provider: views.provider(id) }),
  };
};

export const updateProvider: Changer<'provider.update'> = (config, { id, changes }, context) => {
  const provider = parseProvider(applyChanges(findProvider(config, id), changes));
  checkProvider(provider, context.ownAddresses);
  return {
    config: { ...config, providers: putById(config.providers, provider) },
    result: ({ revision, views }) => ({ revision, provider: views.provider(id) }),
  };
};

export const setProviderEnabled: Changer<'provider.set-enabled'> = (config, { id, enabled }) => ({
  config: { ...config, providers: putById(config.providers, { ...findProvider(config, id), enabled }) },
  result: ({ revision, views }) => ({ revision, provider: views.provider(id) }),
});

export const removeProvider: Changer<'provider.remove'> = (config, { id }, context) => {
  const provider = findProvider(config, id);
  const { imported, gateway } = context.imported();
  const isPresetLeft = imported !== null && provider.joined && gateway === new URL(provider.baseUrl).origin;
  const aliases = isPresetLeft ? withoutThoseOf(imported, config.aliases, id) : config.aliases;
  const users = aliases.filter((alias) => alias.targets.some((target) => target.provider === id));
  if (users.length > 0) {
    const names = nameSome(users.map((alias) => alias.name));
    throw controlError('conflict', { code: 'provider-in-use', provider: id, aliases: names });
  }
  return {
    ...(isPresetLeft && { importedPreset: null }),
    config: {
      ...config,
      aliases,
      providers: withoutId(config.providers, id),
      keys: config.keys.map((key) => withoutTargetsAt(key, id)),
      groups: config.groups.map((group) => withoutProvider(group, id)),
    },
    deleteAfter: storedSecretNames(provider),
    result: ({ revision }) => ({ revision }),
  };
};

/** Removes the aliases that a team gateway's preset added and whose targets are all at that gateway. */
function withoutThoseOf({ aliases = [] }: TeamPreset, present: Config['aliases'], gateway: string): Config['aliases'] {
  const brought = new Set(aliases.map(({ name }) => name));
  const isForIt = ({ name, targets }: Config['aliases'][number]) =>
    brought.has(name) && targets.every(({ provider }) => provider === gateway);
  return present.filter((alias) => !isForIt(alias));
}

/** A key whose own alias leads nowhere else follows the alias for all keys again. */
function withoutTargetsAt(key: KeyConfig, provider: string): KeyConfig {
  const isThere = (target: { provider: string }) => target.provider === provider;
  if (!key.aliases?.some(({ targets }) => targets.some(isThere))) return key;
  const aliases = key.aliases.map((alias) => ({
    ...alias,
    targets: alias.targets.filter((target) => !isThere(target)),
  }));
  return keyWithAliases(
    key,
    aliases.filter(({ targets }) => targets.length > 0),
  );
}

/**
 * A group that used the provider for passthrough has none afterwards; no other provider is chosen automatically.
 */
function withoutProvider(group: GroupConfig, id: string): GroupConfig {
  const order = group.order.filter((entry) => entry.provider !== id);
  return {
    ...group,
    order,
    ...(group.passthrough === id && { passthrough: null }),
  };
}

/** The names of a provider's secrets in Sluice's own store. */
export function storedSecretNames(provider: ProviderConfig): string[] {
  return provider.credentials
    .filter((credential) => credential.secret === 'keychain')
    .map((credential) => credentialSecretName(provider.id, credential.id));
}

export function findProvider(config: Config, id: string): ProviderConfig {
  if (id === demoProviderId) throw controlError('invalid_command', { code: 'demo-by-setting' });
  return findById(config.providers, id, 'provider');
}

/** Validated here, because an error at the commit would be less specific. */
function parseProvider(provider: object): ProviderConfig {
  const parsed = providerSchema.safeParse(provider);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new GatewayError('invalid_command', `${issue?.path.join('.') || 'provider'}: ${issue?.message}.`);
}

function withPreset(fields: ProviderChanges, preset: (id: string) => ProviderChanges | undefined): ProviderChanges {
  if (!fields.preset) return fields;
  const defaults = preset(fields.preset);
  if (!defaults) throw controlError('not_found', { code: 'no-preset', id: fields.preset }, 'preset');
  return { ...defaults, ...fields };
}

function newCredentials(
  credentials: readonly NewCredential[],
  context: ChangeContext,
): { config: CredentialConfig; secret: string | undefined }[] {
  const usedIds = new Set<string>();
  return credentials.map(({ id: requestedId, label, secret, reference, variable, enabled }) => {
    const id = chooseId(requestedId, [label], usedIds, 'c');
    usedIds.add(id);
    const credential = { id, ...(label && { label }), secret: reference ?? 'keychain', enabled };
    return { config: credential, secret: variable === undefined ? secret : takeVariable(variable, context) };
  });
}

function takeVariable(name: string, { variable }: ChangeContext): string {
  const value = secretValue.safeParse(variable(name));
  if (value.success) return value.data;
  throw controlError('invalid_command', { code: 'variable-unusable', variable: name }, 'credentials');
}

export const setCredential: Changer<'credential.set'> = (config, command) => {
  const { secret, reference } = command;
  const provider = findProvider(config, command.provider);
  if (secret !== undefined && reference !== undefined) {
    throw new GatewayError('invalid_command', 'Give either the secret or a reference to it, not both.');
  }
  const old = provider.credentials.find((credential) => credential.id === command.id);
  if (!old && secret === undefined && reference === undefined) {
    throw new GatewayError('invalid_command', 'A new credential needs its secret or a reference to it.');
  }
  const usedIds = provider.credentials.map((credential) => credential.id);
  const id = old?.id ?? chooseId(command.id, [command.label ?? undefined], usedIds, 'c');
  const credential = changed(old, { ...command, id });
  const name = credentialSecretName(provider.id, id);
  const credentials = putById(provider.credentials, credential);
  return {
    config: { ...config, providers: putById(config.providers, { ...provider, credentials }) },
    ...(secret !== undefined && { storeBefore: [{ name, value: secret }] }),
    ...((secret ?? reference) !== undefined && { renewed: { provider: provider.id, credential: id } }),
    ...(reference !== undefined && old?.secret === 'keychain' && { deleteAfter: [name] }),
    result: ({ revision, views }) => ({
      revision,
      credential: findById(views.provider(provider.id).credentials, id, 'credential'),
    }),
  };
};

export const removeCredential: Changer<'credential.remove'> = (config, { provider: providerId, id }) => {
  const provider = findProvider(config, providerId);
  const credential = findById(provider.credentials, id, 'credential');
  const credentials = withoutId(provider.credentials, id);
  return {
    config: { ...config, providers: putById(config.providers, { ...provider, credentials }) },
    ...(credential.secret === 'keychain' && { deleteAfter: [credentialSecretName(providerId, id)] }),
    result: ({ revision }) => ({ revision }),
  };
};

interface CredentialChange {
  id: string;
  label?: string | null | undefined;
  secret?: string | undefined;
  reference?: string | undefined;
  enabled?: boolean | undefined;
}

function changed(old: CredentialConfig | undefined, change: CredentialChange): CredentialConfig {
  const label = change.label === undefined ? old?.label : change.label;
  const secretSource = change.secret === undefined ? (change.reference ?? old?.secret ?? 'keychain') : 'keychain';
  return {
    id: change.id,
    ...(label && { label }),
    secret: secretSource,
    enabled: change.enabled ?? old?.enabled ?? true,
  };
}
