/**
 * Removes default values from a configuration that other replicas read. The previous version of the program refuses
 * members that it does not know, so a new member must not be stored before it is used. Pure.
 */
import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';
import { groupSchema, keySchema, providerSchema } from '../contract/config.ts';
import { isObject } from '../contract/is-object.ts';
import { settingsSchema } from '../contract/settings.ts';

type Members = Record<string, unknown>;

/** For each list of the configuration: a minimal entry. */
const ofEntries: Readonly<Record<string, Members>> = {
  providers: filledIn(providerSchema, { id: 'any', baseUrl: 'https://any.example' }),
  groups: filledIn(groupSchema, { id: 'any' }),
  keys: filledIn(keySchema, { id: 'any', group: 'any' }),
};
const ofSettings = filledIn(settingsSchema, {});

/** Accepts a configuration or a patch of one. */
export function withoutDefaults(config: object): Members {
  return Object.fromEntries(Object.entries(config).map(([name, value]) => [name, memberWithoutDefaults(name, value)]));
}

/** `name`: the member's name in the configuration. */
export function memberWithoutDefaults(name: string, value: unknown): unknown {
  if (name === 'settings' && isObject(value)) return difference(value, ofSettings);
  const defaults = ofEntries[name];
  if (!defaults) return value;
  const slim = (entries: unknown[]) => entries.map((each) => (isObject(each) ? difference(each, defaults) : each));
  if (Array.isArray(value)) return slim(value);
  return isObject(value) && Array.isArray(value.entries) ? { ...value, entries: slim(value.entries) } : value;
}

function difference(value: Members, defaults: Members): Members {
  const members = Object.entries(value).flatMap(([name, member]) => {
    const defaultValue = defaults[name];
    if (name in defaults && isDeepStrictEqual(member, defaultValue)) return [];
    return [[name, isObject(member) && isObject(defaultValue) ? difference(member, defaultValue) : member] as const];
  });
  return Object.fromEntries(members);
}

function filledIn(schema: z.ZodType<Members>, members: Members): Members {
  return Object.fromEntries(Object.entries(schema.parse(members)).filter(([name]) => !(name in members)));
}
