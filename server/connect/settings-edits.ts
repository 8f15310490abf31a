/** Computes the differences between two states of a file's settings, as edits of single values. Pure. */
import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../contract/is-object.ts';
import type { ClientSettings } from './config-format.ts';

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
