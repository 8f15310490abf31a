/** Merges settings into others, and reverts that. Pure. */
import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../contract/is-object.ts';

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

// Computes the differences between two states of a file's settings, as edits of single values.

export type SettingsPath = readonly (string | number)[];

/** `value`: undefined removes the entry. An entry whose path ends after the last element of a list is appended. */
export interface SettingsEdit {
  path: SettingsPath;
  value: unknown;
}

/** The value at a path; undefined if there is none. */
export function valueAt(settings: unknown, path: SettingsPath): unknown {
  return path.reduce<unknown>((value, name) => {
    if (Array.isArray(value)) return typeof name === 'number' ? value[name] : undefined;
    return isObject(value) ? value[name] : undefined;
  }, settings);
}

/** The settings without those at the paths, of which several elements of a list stand in ascending order. */
export function withoutPaths(settings: ClientSettings, paths: readonly SettingsPath[]): ClientSettings {
  // The last first, so that earlier elements of a list keep their places.
  return paths.reduceRight<ClientSettings>((rest, path) => withoutPath(rest, path) as ClientSettings, settings);
}

function withoutPath(value: unknown, [name = '', ...rest]: SettingsPath): unknown {
  if (Array.isArray(value)) {
    const index = Number(name);
    return rest.length === 0 ? value.toSpliced(index, 1) : value.with(index, withoutPath(value[index], rest));
  }
  if (!isObject(value)) return value;
  const { [name]: inner, ...others } = value;
  return rest.length === 0 ? others : { ...value, [name]: withoutPath(inner, rest) };
}

/** The smallest number of edits from one state to the other, to be made in this order. */
export function editsBetween(before: ClientSettings, after: ClientSettings): SettingsEdit[] {
  return objectEdits(before, after, []);
}

function objectEdits(before: ClientSettings, after: ClientSettings, path: SettingsPath): SettingsEdit[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].flatMap((name) => valueEdits(before[name], after[name], [...path, name]));
}

function valueEdits(before: unknown, after: unknown, path: SettingsPath): SettingsEdit[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (isObject(before) && isObject(after)) return objectEdits(before, after, path);
  const edits = Array.isArray(before) && Array.isArray(after) ? listEdits(before, after, path) : null;
  return edits ?? [{ path, value: after }];
}

/** Null if the lists differ by more than removed elements, or by more than changed and appended ones. */
function listEdits(before: readonly unknown[], after: readonly unknown[], path: SettingsPath): SettingsEdit[] | null {
  if (after.length >= before.length) {
    return after.flatMap((value, index) => valueEdits(before[index], value, [...path, index]));
  }
  const removed = removedIndexes(before, after);
  return removed?.map((index) => ({ path: [...path, index], value: undefined })) ?? null;
}

/** Highest index first, so that earlier removals do not shift later ones. */
function removedIndexes(before: readonly unknown[], after: readonly unknown[]): number[] | null {
  const removed: number[] = [];
  let next = 0;
  before.forEach((value, index) => {
    if (next < after.length && isDeepStrictEqual(value, after[next])) next += 1;
    else removed.unshift(index);
  });
  return next === after.length ? removed : null;
}

// The syntax of a client's configuration file. A format parses a file's settings and changes individual settings in its
// text.

export type ClientSettings = Record<string, unknown>;

export interface ConfigFormat {
  /** Throws ConfigSyntaxError for invalid syntax. An empty text contains no settings. */
  parse(text: string): ClientSettings;
  /**
   * The text with the given settings. Comments, order and layout of unchanged parts are preserved. `settings` must come
   * from `parse` of the same text, with some values replaced, added or removed.
   */
  rewrite(text: string, settings: ClientSettings): string;
}

/** A configuration file that its own client could not read either. The message never quotes the file. */
export class ConfigSyntaxError extends Error {
  override readonly name = 'ConfigSyntaxError';
  /** Starts at 1. */
  readonly line: number;

  constructor(line: number) {
    super(`syntax error in line ${line}`);
    this.line = line;
  }
}

/** The line number at an offset, starting at 1. */
export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}
