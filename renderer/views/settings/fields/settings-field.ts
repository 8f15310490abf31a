/** The engine's settings as form fields: how each is read as text and written back. Pure; bounds are the schema's. */
import type { SettingsChanges } from '../../../../server/contract/commands.ts';
import { isWithin, type SettingShape } from '../../../../server/contract/setting-shape.ts';
import { settingShapes } from '../../../../server/contract/setting-shapes.ts';
import type { Settings } from '../../../../server/contract/settings.ts';
import {
  type FieldPath,
  fieldPathsIn,
  type SettingsPart,
  valueOfSetting,
  withSetting,
} from '../../../../server/contract/settings-table.ts';
import type { StatusView } from '../../../../server/contract/status-views.ts';
import type { Messages } from '../../../messages/en/en.ts';
import { shownUnit } from './shown-unit.ts';
import { isStructured, structures } from './structured-texts.ts';

export interface SettingsField {
  path: FieldPath;
  shape: SettingShape;
  /** The unit of numbers, as it is shown. */
  unit: keyof Messages['settings']['units'] | null;
  /** The stored value of 1 in that unit. */
  scale: number;
  read(settings: Settings): string;
  /** Undefined if the text cannot be a value. What a list or an address must be like is not checked. */
  parse(text: string): unknown;
}

/** The fields that apply to this installation. */
export function fieldsOf(part: SettingsPart, { sharedCounts }: Pick<StatusView, 'sharedCounts'>): SettingsField[] {
  const paths = fieldPathsIn(part).filter((path) => path !== 'sharedCounts.hardBudgets' || sharedCounts !== null);
  return paths.map(fieldOf);
}

export function fieldOf(path: FieldPath): SettingsField {
  const shape = settingShapes[path];
  const { unit, scale } = shownUnit(path);
  return {
    path,
    shape,
    unit,
    scale,
    read: (settings) => writeText(valueOfSetting(settings, path), { path, scale }),
    parse: (text) => readText(text.trim(), { path, shape, scale }),
  };
}

/** The changes with the field's text, which must be a value. */
export function withField(changes: SettingsChanges, { path, parse }: SettingsField, text: string): SettingsChanges {
  return withSetting(changes, path, parse(text));
}

interface Choice {
  value: string;
  label: string;
}

/** The values to choose from, with their texts; null if the field is not a choice. */
export function choicesOf({ path, shape }: SettingsField, current: string, { settings }: Messages): Choice[] | null {
  const values = shape.kind === 'choice' ? shape.values : shape.kind === 'switch' ? ['on', 'off'] : null;
  if (values === null) return null;
  const byPath: Partial<Record<string, Record<string, string>>> = settings.choices;
  const texts: Partial<Record<string, string>> = { ...settings.switches, ...byPath[path] };
  // The value in force may be one of a later version.
  return [...new Set([...values, current])].map((value) => ({ value, label: texts[value] ?? value }));
}

export function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

function writeText(value: unknown, { path, scale }: Pick<SettingsField, 'path' | 'scale'>): string {
  if (isStructured(path)) return structures[path].read(value);
  if (value === null) return '';
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (typeof value === 'number') return String(value / scale);
  return Array.isArray(value) ? value.join('\n') : String(value);
}

function readText(text: string, { path, shape, scale }: Pick<SettingsField, 'path' | 'shape' | 'scale'>): unknown {
  if (isStructured(path)) return structures[path].parse(linesOf(text));
  switch (shape.kind) {
    case 'number': {
      if (text === '') return shape.isOptional ? null : undefined;
      const value = Number(text) * scale;
      // 0.3 MiB is no whole number of bytes.
      const stored = shape.isWhole && scale !== 1 ? Math.round(value) : value;
      return isWithin(shape, stored) ? stored : undefined;
    }
    case 'switch':
      return text === 'on';
    case 'texts':
      return linesOf(text);
    case 'text':
      if (text === '' && shape.isOptional) return null;
      return text.length < shape.minLength ? undefined : text;
    default:
      return text;
  }
}
