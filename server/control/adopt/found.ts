/** What the readers of other programs' configurations find in them. Pure: it is put into a configuration by `adopt-config.ts`. */

import { cleanBaseUrl } from '../../contract/address.ts';
import type { AdoptNote } from '../../contract/change-views.ts';
import { secretValue } from '../../contract/command-fields.ts';
import type { ConversationApi, DialectId } from '../../contract/config.ts';
import { controlError } from '../../contract/control-error.ts';
import type { GatewayError } from '../../contract/errors.ts';
import { isObject } from '../../contract/is-object.ts';
import type { Preset } from '../../contract/preset.ts';

/** A secret, or the variable that holds it. */
export type FoundKey = { secret: string } | { variable: string };

export interface FoundService {
  /** The name that the file gives it, from which its id is made. */
  name: string;
  preset?: string | undefined;
  dialect: DialectId;
  baseUrl: string;
  apiVersion?: string | undefined;
  serves?: ConversationApi[] | undefined;
  needsKey: boolean;
  key: FoundKey | null;
  models: string[] | 'discover';
}

/** A target of an alias: a model at a service of the file, or all targets of another alias of the file. */
export type FoundTarget =
  | { service: FoundService; model: string; weight?: number; priority?: number }
  | { alias: string; priority: number };

/** An entry of the file. Without service and alias it is left out, and `notes` say why. */
export interface Found {
  place: string;
  service?: FoundService;
  alias?: { name: string; targets: FoundTarget[] };
  notes: AdoptNote[];
}

/** What the readers know besides the file. */
export interface Reading {
  presets: readonly Preset[];
}

export function brokenAt(place: string, wanted: string): GatewayError {
  return controlError('invalid_value', { code: 'adopt-broken', place, wanted });
}

export function objectAt(value: unknown, place: string): Readonly<Record<string, unknown>> {
  if (!isObject(value)) throw brokenAt(place, 'an object');
  return value;
}

export function listAt(value: unknown, place: string): readonly unknown[] {
  if (!Array.isArray(value)) throw brokenAt(place, 'a list');
  return value;
}

/** A text that must be there and must not be empty. */
export function textAt(value: unknown, place: string): string {
  if (typeof value !== 'string' || value.trim() === '') throw brokenAt(place, 'a text');
  return value.trim();
}

/** A text, if it is given: empty and absent ones are undefined. */
export function textIn(value: unknown, place: string): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  return textAt(value, place);
}

/** The secret as it can be sent. Never quotes it. */
export function secretAt(value: string, place: string): FoundKey {
  const parsed = secretValue.safeParse(value);
  if (!parsed.success) throw brokenAt(place, 'a key of printable ASCII characters');
  return { secret: parsed.data };
}

/** An address as a person would paste it. */
export function addressAt(value: unknown, place: string): string {
  const url = cleanBaseUrl(textAt(value, place));
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) throw brokenAt(place, 'an address that begins with https://');
  return url;
}

/** What is known of a service by its preset, and otherwise by its address. */
export function serviceOf(
  { presets }: Reading,
  given: Pick<FoundService, 'name' | 'key'> & Partial<FoundService>,
): FoundService | null {
  const preset =
    presets.find(({ id }) => id === given.preset) ??
    presets.find(({ baseUrl, dialect }) => baseUrl === given.baseUrl && dialect === (given.dialect ?? dialect));
  const baseUrl = given.baseUrl ?? preset?.baseUrl;
  if (baseUrl === undefined || baseUrl.includes('{')) return null;
  const isPresets = preset !== undefined && preset.baseUrl === baseUrl;
  return {
    dialect: preset?.dialect ?? 'openai',
    serves: isPresets && preset.serves ? [...preset.serves] : undefined,
    models: 'discover',
    needsKey: preset ? preset.needsCredential : !isLocal(baseUrl),
    ...given,
    preset: isPresets ? preset.id : undefined,
    baseUrl,
  };
}

function isLocal(baseUrl: string): boolean {
  return /^(?:localhost|127\.|\[::1\])/.test(new URL(baseUrl).host);
}

/** The same with a path, where a program adds it by itself. */
export function withPath(baseUrl: string, path: string): string {
  return new URL(baseUrl).pathname === '/' ? `${new URL(baseUrl).origin}${path}` : baseUrl;
}
