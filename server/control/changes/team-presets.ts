/** The managed and imported team presets in force: their locks, and the changes that apply them. */
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { problemsOf, summarizeProblems } from '../../config/check-config.ts';
import type { ManagedPresets } from '../../config/managed-preset.ts';
import type { TeamMemory, TeamMemoryStore } from '../../config/team-memory.ts';
import type { ConfigChange } from '../../contract/change-views.ts';
import {
  type Config,
  type CredentialConfig,
  configSchema,
  groupSchema,
  type KeyConfig,
  type ProviderConfig,
  providerSchema,
} from '../../contract/config.ts';
import { controlError } from '../../contract/control-error.ts';
import { GatewayError } from '../../contract/errors.ts';
import { isObject } from '../../contract/is-object.ts';
import { findLocks, type Lock, type LockablePart, type Locks } from '../../contract/lock.ts';
import { type Settings, settingsSchema } from '../../contract/settings.ts';
import type { TeamPresetView } from '../../contract/status-views.ts';
import { lockedPaths, settingNames, type TeamPreset } from '../../contract/team-preset.ts';
import { compareConfigs, putById } from '../entries/change-list.ts';
import { credentialPaths, isRedirected, redirectedProviders } from '../entries/provider-secrets.ts';
import { keyWithAliases } from './change-alias.ts';
import { storedSecretNames } from './change-provider.ts';

export interface TeamPorts {
  managed: ManagedPresets;
  memory: TeamMemoryStore;
}

/** The change that applies the presets. */
interface DueMerge extends MergedPreset {
  team: TeamMemory;
}

export interface TeamPresets {
  readonly memory: TeamMemoryStore;
  readonly managed: ManagedPresets;
  views(): TeamPresetView[];
  /** What the presets still say of removed features, one sentence for each field. */
  removed(): string[];
  /** `managed`: only the locks of the managed preset. */
  locks(config: Config, scope?: 'all' | 'managed'): Lock[];
  /** Null if they are already applied. Throws GatewayError if one does not fit. */
  due(config: Config): DueMerge | null;
}

export function createTeamPresets({ managed, memory }: TeamPorts): TeamPresets {
  const managedPresets = () => (managed.current ? [managed.current.preset] : []);
  const imported = () => (memory.current.imported ? [memory.current.imported] : []);
  return {
    memory,
    managed,
    views: () => [
      ...(managed.current ? [viewOf(managed.current.preset, managed.current.source)] : []),
      ...imported().map((preset) => ({ ...viewOf(preset, 'imported'), ...gatewayOf(memory.current) })),
    ],
    removed: () => [...(managed.current?.removed ?? []), ...memory.removed],
    locks: (config, scope = 'all') =>
      locksOf(scope === 'managed' ? managedPresets() : [...managedPresets(), ...imported()], config),
    due(config) {
      const steps = [...imported().map((preset) => ({ preset, isNew: false })), ...managedStep(managed, memory)];
      const merged = steps.reduce<MergedPreset>(
        (before, { preset, isNew }) => {
          const after = mergeTeamPreset(before.config, preset, isNew ? 'everything' : 'what-is-locked');
          return { ...after, deleteBefore: [...before.deleteBefore, ...after.deleteBefore] };
        },
        { config, deleteBefore: [], enteredAnew: [] },
      );
      const applied = managed.current ? digestOf(managed.current.preset) : null;
      const isSame = applied === memory.current.applied && isDeepStrictEqual(merged.config, config);
      return isSame ? null : { ...merged, team: { ...memory.current, applied } };
    },
  };
}

/**
 * A new managed preset is applied completely. Later only its locked parts are applied, so that the others can be
 * changed.
 */
function managedStep({ current }: ManagedPresets, memory: TeamMemoryStore): { preset: TeamPreset; isNew: boolean }[] {
  if (!current) return [];
  // A version that still had the removed features has noted the digest of the whole.
  const known = [digestOf(current.preset), digestOf(current.written)];
  return [{ preset: current.preset, isNew: !known.some((digest) => digest === memory.current.applied) }];
}

function digestOf(preset: unknown): string {
  return createHash('sha256').update(JSON.stringify(preset)).digest('hex');
}

const gatewayOf = ({ gateway }: TeamMemory) => (gateway === undefined ? {} : { gateway });

function viewOf(preset: TeamPreset, source: TeamPresetView['source']): TeamPresetView {
  const { name, organisation, contact = null, version = null } = preset;
  return { source, name, organisation, contact, version };
}

/** All locks on a configuration. If several presets lock a path, the first one is reported. */
function locksOf(presets: readonly TeamPreset[], config: Config): Lock[] {
  const locks = new Map<string, Lock>();
  for (const preset of presets) {
    const { organisation: by, contact = null } = preset;
    const paths = (preset.locked ?? []).flatMap((entry) => lockedPaths(preset, entry));
    for (const path of [...paths, ...otherEntries(paths, config)]) {
      if (!locks.has(path)) locks.set(path, { path, by, contact });
    }
  }
  return [...locks.values()];
}

/** Throws GatewayError `locked` if something locked differs. */
export function refuseLocked(before: Config, after: Config, locks: readonly Lock[]): void {
  if (locks.length === 0) return;
  const lockFinder = findLocks(locks);
  for (const change of compareConfigs(before, after)) {
    const lock = lockAgainst(change, lockFinder);
    if (lock) throw refusal(change, lock);
  }
  refuseOverride(before, after, lockFinder);
}

/** A key has no alias of its own in place of a locked one. */
function refuseOverride(before: Config, after: Config, locks: Locks): void {
  const shared = new Set(after.aliases.map(({ name }) => name));
  const keysBefore = new Map(before.keys.map((key) => [key.id, key]));
  for (const key of after.keys) {
    const old = keysBefore.get(key.id);
    if (!key.aliases || key === old) continue;
    for (const alias of key.aliases) {
      const { name } = alias;
      if (old?.aliases?.some((each) => isDeepStrictEqual(each, alias))) continue;
      const lock = shared.has(name) ? locks.changing('aliases', name, 'targets') : locks.adding('aliases');
      if (lock) throw refusal({ part: 'alias', name, kind: shared.has(name) ? 'changed' : 'added' }, lock);
    }
  }
}

/** Entries of a locked list that are not part of the preset may be removed, but not changed. */
function otherEntries(paths: readonly string[], { providers, aliases, groups }: Config): string[] {
  const names = {
    providers: providers.map(({ id }) => id),
    aliases: aliases.map(({ name }) => name),
    groups: groups.map(({ id }) => id),
  };
  const locked = new Set(paths);
  return Object.entries(names)
    .filter(([part]) => locked.has(part))
    .flatMap(([part, ids]) => ids.map((id) => `${part}/${id}`))
    .filter((path) => !locked.has(path))
    .map((path) => `${path}/*`);
}

const parts: Partial<Record<ConfigChange['part'], LockablePart>> = {
  provider: 'providers',
  alias: 'aliases',
  group: 'groups',
};

function lockAgainst({ part, name, kind, fields }: ConfigChange, locks: ReturnType<typeof findLocks>): Lock | null {
  if (part === 'setting') return locks.setting(name);
  const list = parts[part];
  if (!list) return null;
  if (kind === 'added') return locks.adding(list);
  if (kind === 'removed') return locks.removing(list, name);
  // Nested fields such as `policy.retries` can only be locked by their first part.
  const changed = fields
    .map((field) => field.name.split('.')[0] ?? field.name)
    .filter((field) => field !== 'credentials');
  return changed.map((field) => locks.changing(list, name, field)).find((lock) => lock !== null) ?? null;
}

function refusal(
  { part, name, kind }: Pick<ConfigChange, 'part' | 'name' | 'kind'>,
  { path, by, contact }: Lock,
): GatewayError {
  if (kind === 'added') return controlError('locked', { code: 'locked-against-adding', part, by, contact }, path);
  const code = kind === 'removed' ? 'locked-against-removing' : 'locked-against-changing';
  return controlError('locked', { code, part, name, by, contact }, path);
}

// Merges a team preset into a configuration. Objects are merged field by field, lists and single values are
// replaced, and fields that the preset omits stay.

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
