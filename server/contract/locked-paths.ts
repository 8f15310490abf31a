import type { z } from 'zod';
import type { aliasSchema, groupSchema, providerSchema } from './config.ts';
import { isObject } from './is-object.ts';
import type { LockablePart } from './lock.ts';
import type { settingsSchema } from './settings.ts';

/** The lockable parts of a preset, as written in its file. */
interface Lockable {
  providers?: readonly Omit<z.input<typeof providerSchema>, 'credentials'>[] | undefined;
  aliases?: readonly z.input<typeof aliasSchema>[] | undefined;
  groups?: readonly z.input<typeof groupSchema>[] | undefined;
  settings?: z.input<typeof settingsSchema> | undefined;
}

/** Credentials belong to each person, and an id cannot change anyway. */
const neverLocked = ['id', 'credentials'];

/**
 * The paths (see `Lock`) that an entry of `locked` covers: only what the preset itself sets. Empty if it sets nothing
 * there.
 */
export function lockedPaths(preset: Lockable, entry: string): string[] {
  const [part, ...rest] = entry.split('/') as [LockablePart, ...string[]];
  const [id, field] = rest;
  switch (part) {
    case 'settings':
      return lockedSettings(preset.settings ?? {}, id);
    case 'aliases':
      // Model names may contain slashes.
      return lockedAliases(preset.aliases ?? [], rest.length > 0 ? rest.join('/') : undefined);
    default:
      return lockedEntries(part, preset[part] ?? [], { id, field });
  }
}

/** The full names of single settings: `ledger.retentionDays` for `{ ledger: { retentionDays: 30 } }`. */
export function settingNames(settings: object, prefix = ''): string[] {
  return Object.entries(settings).flatMap(([name, value]) => {
    if (value === undefined) return [];
    const isGroup = isObject(value);
    return isGroup ? settingNames(value, `${prefix}${name}.`) : [prefix + name];
  });
}

function lockedSettings(settings: object, onlyName: string | undefined): string[] {
  const names = settingNames(settings);
  const isWanted = (name: string) => onlyName === undefined || name === onlyName || name.startsWith(`${onlyName}.`);
  return names.filter(isWanted).map((name) => `settings/${name}`);
}

function lockedAliases(aliases: readonly { name: string }[], onlyName: string | undefined): string[] {
  const matching = aliases.filter(({ name }) => onlyName === undefined || name === onlyName);
  const paths = matching.flatMap(({ name }) => [`aliases/${name}`, `aliases/${name}/*`]);
  return onlyName === undefined ? ['aliases', ...paths] : paths;
}

function lockedEntries(
  part: LockablePart,
  entries: readonly { id: string }[],
  only: { id: string | undefined; field: string | undefined },
): string[] {
  const paths = entries
    .filter(({ id }) => only.id === undefined || id === only.id)
    .flatMap((entry) => {
      const fields = Object.entries(entry)
        .filter(([name, value]) => value !== undefined && !neverLocked.includes(name))
        .map(([name]) => name)
        .filter((name) => only.field === undefined || name === only.field);
      if (only.field !== undefined && fields.length === 0) return [];
      return [`${part}/${entry.id}`, ...fields.map((name) => `${part}/${entry.id}/${name}`)];
    });
  return only.id === undefined ? [part, ...paths] : paths;
}
