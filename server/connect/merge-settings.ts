/** Merges settings into others, and reverts that. Pure. */
import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../contract/is-object.ts';
import type { ClientSettings } from './config-format.ts';

/** A setting that must become a section already holds a plain value. */
export class SettingsConflict extends Error {
  override readonly name = 'SettingsConflict';
}

/** The section of this name; empty if there is none. */
export function sectionOf(settings: ClientSettings, ...path: readonly string[]): ClientSettings {
  return path.reduce<ClientSettings>((section, name) => {
    const value = section[name];
    return isObject(value) ? value : {};
  }, settings);
}

/** The settings with additions: sections are merged, other values are replaced. Throws SettingsConflict. */
export function mergeSettings(settings: ClientSettings, additions: ClientSettings): ClientSettings {
  const merged = { ...settings };
  for (const [name, value] of Object.entries(additions)) {
    const before = settings[name];
    if (!isObject(value)) merged[name] = value;
    else if (before === undefined || isObject(before)) merged[name] = mergeSettings(before ?? {}, value);
    else throw new SettingsConflict(name);
  }
  return merged;
}

/** The list with the entry in place of the one that matches by `isSame`, or appended. Throws SettingsConflict. */
export function withEntry(list: unknown, entry: ClientSettings, isSame: (entry: ClientSettings) => boolean): unknown[] {
  if (list !== undefined && !Array.isArray(list)) throw new SettingsConflict('list');
  const entries: unknown[] = list ?? [];
  const index = entries.findIndex((each) => isObject(each) && isSame(each));
  return index === -1 ? [...entries, entry] : entries.with(index, entry);
}

/**
 * Reverts the change from `before` to `applied` in the current settings. Later changes by others stay, even to the same
 * settings.
 */
export function revertSettings(
  current: ClientSettings,
  applied: ClientSettings,
  before: ClientSettings,
): ClientSettings {
  return revertObject(current, applied, before);
}

function revertObject(current: ClientSettings, applied: ClientSettings, before: ClientSettings): ClientSettings {
  const result: ClientSettings = {};
  for (const name of new Set([...Object.keys(current), ...Object.keys(before)])) {
    const value = valueTakenBack(current[name], applied[name], before[name]);
    if (value !== undefined) result[name] = value;
  }
  return result;
}

function valueTakenBack(current: unknown, applied: unknown, before: unknown): unknown {
  if (isDeepStrictEqual(current, applied)) return before;
  if (isDeepStrictEqual(applied, before)) return current;
  if (isObject(current) && isObject(applied) && (before === undefined || isObject(before))) {
    const remaining = revertObject(current, applied, before ?? {});
    // A section that did not exist before is removed with the last of its settings.
    return before === undefined && Object.keys(remaining).length === 0 ? undefined : remaining;
  }
  if (Array.isArray(current) && Array.isArray(applied) && (before === undefined || Array.isArray(before))) {
    const remaining = listTakenBack(current, applied, before ?? []);
    return before === undefined && remaining.length === 0 ? undefined : remaining;
  }
  return current;
}

/** Elements are compared by value; an element that was changed since stays. */
function listTakenBack(current: unknown[], applied: unknown[], before: unknown[]): unknown[] {
  const isIn = (list: unknown[], value: unknown) => list.some((each) => isDeepStrictEqual(each, value));
  const remaining = current.filter((value) => !isIn(applied, value) || isIn(before, value));
  return [...remaining, ...before.filter((value) => !isIn(applied, value) && !isIn(remaining, value))];
}
