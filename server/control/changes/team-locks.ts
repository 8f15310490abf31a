import { isDeepStrictEqual } from 'node:util';
import type { ConfigChange } from '../../contract/change-views.ts';
import type { Config } from '../../contract/config.ts';
import { controlError } from '../../contract/control-error.ts';
import type { GatewayError } from '../../contract/errors.ts';
import { findLocks, type Lock, type LockablePart, type Locks } from '../../contract/lock.ts';
import { lockedPaths, type TeamPreset } from '../../contract/team-preset.ts';
import { compareConfigs } from '../entries/compare-configs.ts';

/** All locks on a configuration. If several presets lock a path, the first one is reported. */
export function locksOf(presets: readonly TeamPreset[], config: Config): Lock[] {
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
