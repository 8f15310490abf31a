/**
 * Merges a team preset into a configuration. Objects are merged field by field, lists and single values are replaced,
 * and fields that the preset omits stay. Pure.
 */
import { problemsOf, summarizeProblems } from '../../config/check-config.ts';
import {
  type Config,
  type CredentialConfig,
  configSchema,
  groupSchema,
  type KeyConfig,
  type ProviderConfig,
  providerSchema,
} from '../../contract/config.ts';
import { GatewayError } from '../../contract/errors.ts';
import { isObject } from '../../contract/is-object.ts';
import { type Settings, settingsSchema } from '../../contract/settings.ts';
import { lockedPaths, settingNames, type TeamPreset } from '../../contract/team-preset.ts';
import { putById } from '../entries/change-list.ts';
import { credentialPaths, isRedirected, redirectedProviders } from '../entries/provider-secrets.ts';
import { keyWithAliases } from './change-alias.ts';
import { storedSecretNames } from './change-provider.ts';

export interface MergedPreset {
  config: Config;
  /** Names of stored secrets to delete before `config` is in force. */
  deleteBefore: string[];
  /** Credentials, as `provider/credential`, whose secret is deleted. */
  enteredAnew: string[];
}

/** Which of a preset's paths (see `Lock`) are applied. Entries that do not exist yet are always added completely. */
type Scope = 'everything' | 'what-is-locked';

type PresetProvider = NonNullable<TeamPreset['providers']>[number];
type PresetGroup = NonNullable<TeamPreset['groups']>[number];
type IsTaken = (path: string) => boolean;

/** Throws GatewayError `invalid_value` if the result is not a valid configuration. */
export function mergeTeamPreset(config: Config, preset: TeamPreset, scope: Scope): MergedPreset {
  const locked = new Set((preset.locked ?? []).flatMap((entry) => lockedPaths(preset, entry)));
  const isTaken: IsTaken = scope === 'everything' ? () => true : (path) => locked.has(path);
  const providers = mergeProviders(config.providers, preset.providers ?? [], isTaken);
  const merged = {
    ...config,
    providers: locked.has('providers') ? onlyThose(providers, preset) : providers,
    aliases: mergeAliases(config.aliases, preset.aliases ?? [], isTaken),
    keys: config.keys.map((key) => withoutOverrides(key, locked)),
    groups: (preset.groups ?? []).reduce((groups, group) => mergeGroup(groups, group, isTaken), config.groups),
    settings: mergeSettings(config.settings, preset.settings ?? {}, isTaken),
  };
  const checked = configSchema.safeParse(merged);
  if (!checked.success) throw doesNotFit(summarizeProblems(problemsOf(checked.error)));
  const redirected = redirectedProviders(config, checked.data);
  return {
    config: checked.data,
    deleteBefore: redirected.flatMap(storedSecretNames),
    enteredAnew: credentialPaths(redirected),
  };
}

function doesNotFit(problems: string): GatewayError {
  return new GatewayError('invalid_value', `The team preset does not fit this configuration: ${problems}.`);
}

/** If the list of providers is locked, other providers are kept with their credentials, but disabled. */
function onlyThose(providers: ProviderConfig[], preset: TeamPreset): ProviderConfig[] {
  const ids = new Set(preset.providers?.map(({ id }) => id));
  return providers.map((provider) => (ids.has(provider.id) ? provider : { ...provider, enabled: false }));
}

function mergeProviders(
  own: readonly ProviderConfig[],
  presetProviders: readonly PresetProvider[],
  isTaken: IsTaken,
): ProviderConfig[] {
  return presetProviders.reduce<ProviderConfig[]>(
    (providers, provider) => {
      const old = providers.find(({ id }) => id === provider.id);
      return putById(providers, old ? mergeProvider(old, provider, isTaken) : newProvider(provider));
    },
    [...own],
  );
}

function newProvider(provider: PresetProvider): ProviderConfig {
  return providerSchema.parse(provider);
}

function mergeProvider(own: ProviderConfig, presetProvider: PresetProvider, isTaken: IsTaken): ProviderConfig {
  const { credentials: slots = [], ...fields } = presetProvider;
  const acceptedFields = takenFields(fields, (name) => isTaken(`providers/${own.id}/${name}`));
  const merged = providerSchema.parse(mergeObjects(own, acceptedFields));
  const isMoved = isRedirected(own, merged);
  const credentials = isMoved ? own.credentials.map(emptied) : own.credentials;
  const mayAdd = isTaken(`providers/${own.id}/credentials`);
  return { ...merged, credentials: mayAdd || isMoved ? withSlots(credentials, slots, isMoved) : credentials };
}

/** Drops references too, because they lead to a secret. */
function emptied(credential: CredentialConfig): CredentialConfig {
  return { ...credential, secret: 'keychain' };
}

/** Existing credentials are not changed. */
function withSlots(
  own: readonly CredentialConfig[],
  slots: NonNullable<PresetProvider['credentials']>,
  areEmptied: boolean,
): CredentialConfig[] {
  return slots.reduce<CredentialConfig[]>(
    (credentials, { id, label, secret = 'keychain' }) => {
      const old = credentials.find((credential) => credential.id === id);
      if (old) return areEmptied ? putById(credentials, { ...old, secret }) : credentials;
      return putById(credentials, { id, ...(label !== undefined && { label }), secret, enabled: true });
    },
    [...own],
  );
}

function mergeAliases(own: Config['aliases'], presetAliases: NonNullable<TeamPreset['aliases']>, isTaken: IsTaken) {
  const merged = new Map<string, object>(own.map((alias) => [alias.name, alias]));
  for (const alias of presetAliases) {
    if (!merged.has(alias.name) || isTaken(`aliases/${alias.name}/*`)) merged.set(alias.name, alias);
  }
  return [...merged.values()];
}

/** A locked alias holds for every key. */
function withoutOverrides(key: KeyConfig, locked: ReadonlySet<string>): KeyConfig {
  const isLocked = ({ name }: { name: string }) => locked.has(`aliases/${name}/*`);
  if (!key.aliases?.some(isLocked)) return key;
  return keyWithAliases(
    key,
    key.aliases.filter((alias) => !isLocked(alias)),
  );
}

function mergeGroup(groups: Config['groups'], presetGroup: PresetGroup, isTaken: IsTaken): Config['groups'] {
  const old = groups.find(({ id }) => id === presetGroup.id);
  const acceptedFields = takenFields(
    presetGroup,
    (name) => old === undefined || isTaken(`groups/${presetGroup.id}/${name}`),
  );
  return putById(groups, groupSchema.parse(mergeObjects(old ?? { id: presetGroup.id }, acceptedFields)));
}

/**
 * `joinPreset` is a single value: if it were merged with an earlier one, it would keep fields that the new one omits.
 */
function mergeSettings(own: Settings, presetSettings: NonNullable<TeamPreset['settings']>, isTaken: IsTaken): Settings {
  const { joinPreset, ...others } = presetSettings;
  const isReplaced = settingNames({ joinPreset }).some((name) => isTaken(`settings/${name}`));
  const merged = mergeObjects(own, takenSettings(others, isTaken));
  return settingsSchema.parse(isReplaced ? { ...merged, joinPreset } : merged);
}

function takenFields(presetFields: object, isTaken: (name: string) => boolean): object {
  return Object.fromEntries(Object.entries(presetFields).filter(([name]) => isTaken(name)));
}

function takenSettings(presetSettings: object, isTaken: IsTaken, prefix = ''): object {
  const entries = Object.entries(presetSettings).flatMap(([name, value]) => {
    if (isObject(value)) return [[name, takenSettings(value, isTaken, `${prefix}${name}.`)] as const];
    return isTaken(`settings/${prefix}${name}`) ? [[name, value] as const] : [];
  });
  return Object.fromEntries(entries);
}

/** Deep merge; `overlay` overrides `own`. */
function mergeObjects(own: object, overlay: object): object {
  const merged = new Map<string, unknown>(Object.entries(own));
  for (const [name, value] of Object.entries(overlay)) {
    const old = merged.get(name);
    if (value !== undefined) merged.set(name, isObject(value) && isObject(old) ? mergeObjects(old, value) : value);
  }
  return Object.fromEntries(merged);
}
