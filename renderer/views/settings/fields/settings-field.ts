/**
 * The engine's settings as form fields: how each is read as text and written back, in which unit it is shown, and which
 * lines are refused before they are sent. Pure; bounds are the schema's.
 */
import type { SettingsChanges } from '../../../../server/contract/commands.ts';
import { isObject } from '../../../../server/contract/is-object.ts';
import { hasUserInfo, isSecretHeader, looksLikeSecretInHeader } from '../../../../server/contract/secret-shape.ts';
import { isWithin, type NumberShape, type SettingShape } from '../../../../server/contract/setting-shape.ts';
import { settingShapes } from '../../../../server/contract/setting-shapes.ts';
import type { Settings } from '../../../../server/contract/settings.ts';
import {
  entryChecks,
  type FieldPath,
  fieldPathsIn,
  type SettingsPart,
  type SettingUnit,
  settingEntry,
  valueOfSetting,
  withSetting,
} from '../../../../server/contract/settings-table.ts';
import type { StatusView } from '../../../../server/contract/status-views.ts';
import { kibibyte, mebibyte, secondMs } from '../../../../server/contract/units.ts';
import { webhookEvents } from '../../../../server/contract/webhook-events.ts';
import type { Messages } from '../../../messages/en/en.ts';
import type { Localization } from '../../../messages/use-messages.ts';

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

function linesOf(text: string): string[] {
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

interface ShownUnit {
  unit: keyof Messages['settings']['units'] | null;
  /** The stored value of 1. */
  scale: number;
}

const shownUnits: Record<SettingUnit, ShownUnit> = {
  milliseconds: { unit: 'seconds', scale: secondMs },
  hours: { unit: 'hours', scale: 1 },
  days: { unit: 'days', scale: 1 },
  bytes: { unit: 'mebibytes', scale: mebibyte },
  requests: { unit: 'requests', scale: 1 },
  usd: { unit: 'dollars', scale: 1 },
  number: { unit: null, scale: 1 },
};

/** Most captured bodies are far smaller than a MiB. */
const exceptions: Partial<Record<FieldPath, ShownUnit>> = {
  'capture.maxBytes': { unit: 'kibibytes', scale: kibibyte },
};

function shownUnit(path: FieldPath): ShownUnit {
  return exceptions[path] ?? shownUnits[settingEntry(path).unit ?? 'number'];
}

/** Smaller bounds are not worth their digits. */
const leastShown = 0.001;

/** What to enter, for a person who entered something else. */
export function describeBounds(
  { isWhole, min, above, max, isOptional }: NumberShape,
  scale: number,
  { messages, formats }: Localization,
): string {
  const { bounds } = messages.settings;
  if (isOptional) return bounds.amountOrEmpty;
  const number = isWhole && scale === 1 ? bounds.whole : bounds.any;
  const least = min === null ? above : min / scale;
  if (least === null) return number;
  const isAbove = min === null || (least > 0 && least < leastShown);
  const from = isAbove ? bounds.above(formats.number(min === null ? least : 0)) : bounds.from(formats.number(least));
  return max === null ? bounds.only(number, from) : bounds.upTo(number, from, formats.number(max / scale));
}

/** Settings that are neither texts nor numbers, written as one line each. */
interface StructuredText {
  read(value: unknown): string;
  /** What is wrong with a line is left for the engine to say. */
  parse(lines: readonly string[]): unknown;
}

const structures = {
  'telemetry.headers': {
    read: (value) =>
      Object.entries(isObject(value) ? value : {})
        .map(([name, text]) => `${name}: ${text}`)
        .join('\n'),
    parse: (lines) => Object.fromEntries(lines.map(headerOf)),
  },
  webhooks: {
    read: (value) => (value as Settings['webhooks']).map(textOfWebhook).join('\n'),
    parse: (lines) => lines.map(webhookOf),
  },
} satisfies Partial<Record<FieldPath, StructuredText>>;

export function isStructured(path: string): path is keyof typeof structures {
  return Object.hasOwn(structures, path);
}

/** A line without a colon yields an invalid name, which the engine then reports. */
function headerOf(line: string): [name: string, value: string] {
  const colon = line.indexOf(':');
  return colon === -1 ? [line, ''] : [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
}

/** Address, events and the reference of the secret of a webhook. */
const webhookLine = /^(\S+)(?:\s+([a-z-]+(?:\s*,\s*[a-z-]+)*))?(?:\s+((?:env|file):.+))?$/;

function textOfWebhook({ url, events, secret }: Settings['webhooks'][number]): string {
  const eventPart = events.length < webhookEvents.length ? [events.join(',')] : [];
  return [url, ...eventPart, ...(secret === undefined ? [] : [secret])].join(' ');
}

function webhookOf(line: string): object {
  const [, url = line, events, secret] = webhookLine.exec(line) ?? [];
  return {
    url,
    ...(events !== undefined && { events: events.split(/\s*,\s*/) }),
    ...(secret !== undefined && { secret }),
  };
}

type CheckedName = keyof typeof checks;

const reference = /^(?:env|file):.+$/;
const headerLine = /^([!#$%&'*+.^_`|~\w-]+)\s*:\s*(\S.*)$/;

const checks = {
  ...entryChecks,
  metricsToken: (line: string) => reference.test(line),
  'telemetry.endpoint': (line: string) => isWebAddress(line) && !/[?#]/.test(line),
  'telemetry.headers': isHeader,
  webhooks: isWebhook,
};

/** The first invalid line; null if all are valid or the setting is not checked here. */
export function firstInvalidLine(name: string, text: string): string | null {
  const isValid = isChecked(name) ? checks[name] : () => true;
  return linesOf(text).find((line) => !isValid(line)) ?? null;
}

export function isChecked(name: string): name is CheckedName {
  return Object.hasOwn(checks, name);
}

function isWebAddress(text: string): boolean {
  return /^https?:$/.test(URL.parse(text)?.protocol ?? '') && !hasUserInfo(text);
}

function isHeader(line: string): boolean {
  const [, name, value] = headerLine.exec(line) ?? [];
  if (name === undefined || value === undefined) return false;
  return reference.test(value) || !(isSecretHeader(name) || looksLikeSecretInHeader(value));
}

function isWebhook(line: string): boolean {
  const [, address = '', events] = webhookLine.exec(line) ?? [];
  const knownNames: readonly string[] = webhookEvents;
  const eventNames = events?.split(/\s*,\s*/) ?? [];
  return (reference.test(address) || isWebAddress(address)) && eventNames.every((event) => knownNames.includes(event));
}
