import { parse, patch, stringify } from '@decimalturn/toml-patch';
import { isObject } from '../contract/is-object.ts';
import {
  type ClientSettings,
  type ConfigFormat,
  ConfigSyntaxError,
  editsBetween,
  type SettingsPath,
} from './merge-settings.ts';

export const tomlFormat: ConfigFormat = {
  parse(text) {
    try {
      return plainTable(parse(text));
    } catch (error) {
      throw new ConfigSyntaxError(lineOf(error));
    }
  },
  rewrite(text, settings) {
    const before = this.parse(text);
    const added = newTables(before, settings);
    const patched = patch(
      text,
      added.reduce<ClientSettings>((rest, { path }) => withoutSetting(rest, path), settings),
    );
    const blocks = added.map(({ path, table }) => `[${path.map(keyOf).join('.')}]\n${stringify(table).trimEnd()}\n`);
    return [patched === '' ? '' : `${patched.trimEnd()}\n`, ...blocks].filter((part) => part !== '').join('\n');
  },
};

/** Adds the prototype of other objects, which `parse` omits, so that tables can be compared with them. */
function plainTable(table: ClientSettings): ClientSettings {
  return Object.fromEntries(Object.entries(table).map(([name, value]) => [name, plainValue(value)]));
}

function plainValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plainValue);
  return isObject(value) && !(value instanceof Date) ? plainTable(value) : value;
}

function lineOf(error: unknown): number {
  return error instanceof Error && 'line' in error && typeof error.line === 'number' ? error.line : 1;
}

interface NewTable {
  path: string[];
  table: ClientSettings;
}

/** New tables. `patch` would write them as one line at the top, whereas people write them as separate blocks. */
function newTables(before: ClientSettings, after: ClientSettings): NewTable[] {
  return editsBetween(before, after).flatMap(({ path, value }) => tablesIn(path.map(String), value));
}

function tablesIn(path: string[], value: unknown): NewTable[] {
  if (!isObject(value)) return [];
  const inner = Object.entries(value);
  const tables = inner.filter(([, each]) => isObject(each));
  const plain = Object.fromEntries(inner.filter(([, each]) => !isObject(each)));
  const own = tables.length > 0 && Object.keys(plain).length === 0 ? [] : [{ path, table: plain }];
  return [...own, ...tables.flatMap(([name, each]) => tablesIn([...path, name], each))];
}

/** The settings without one table, and without its parents if they are then empty. */
function withoutSetting(settings: ClientSettings, [name, ...rest]: SettingsPath): ClientSettings {
  const { [String(name)]: inner, ...others } = settings;
  if (rest.length === 0 || !isObject(inner)) return others;
  const remaining = withoutSetting(inner, rest);
  return Object.keys(remaining).length === 0 ? others : { ...settings, [String(name)]: remaining };
}

function keyOf(name: string): string {
  return /^[A-Za-z0-9_-]+$/.test(name) ? name : JSON.stringify(name);
}
