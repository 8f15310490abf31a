/**
 * Validates a configuration of which most entries were valid before: only the new ones are parsed, because there may be
 * very many.
 */
import type { z } from 'zod';
import {
  aliasSchema,
  type Config,
  currentConfigSchema,
  findContradictions,
  groupSchema,
  keySchema,
  providerSchema,
} from '../contract/config.ts';
import { entriesNotIn, spliceBetween, spliced } from '../contract/list-splice.ts';
import type { ConfigLists } from './config-patch.ts';

/**
 * What the schema makes of `next`. Entries that are those of `current`, a valid configuration, stay the same objects, and
 * so do lists in which nothing has changed. Null if something is invalid; validation by the whole schema then reports
 * what.
 */
export function parseReusing(next: ConfigLists, current: Config): Config | null {
  const rest = currentConfigSchema.safeParse({ ...next, providers: [], aliases: [], groups: [], keys: [] });
  const providers = parseList(providerSchema, next.providers, current.providers);
  const aliases = parseList(aliasSchema, next.aliases, current.aliases);
  const groups = parseList(groupSchema, next.groups, current.groups);
  const keys = parseList(keySchema, next.keys, current.keys);
  if (!rest.success || !providers || !aliases || !groups || !keys) return null;
  const config = { ...rest.data, providers, aliases, groups, keys };
  return isConsistent(config, current) ? config : null;
}

/** Null if an entry is invalid. */
function parseList<Entry extends object>(
  schema: z.ZodType<Entry>,
  input: readonly unknown[] | undefined,
  current: Entry[],
): Entry[] | null {
  const splice = spliceBetween(current, input ?? []);
  if (!splice) return current;
  const replaced = new Set<unknown>(current.slice(splice.at, splice.at + splice.removed));
  const isValid = (entry: unknown): entry is Entry => replaced.has(entry);
  const entries: Entry[] = [];
  for (const each of splice.entries) {
    const entry = isValid(each) ? each : schema.safeParse(each).data;
    if (entry === undefined) return null;
    entries.push(entry);
  }
  return spliced(current, { ...splice, entries });
}

function isConsistent(config: Config, current: Config): boolean {
  const { providers, aliases, groups, keys } = config;
  let isGood = true;
  const looked = { ...config };
  if (providers === current.providers && aliases === current.aliases && groups === current.groups) {
    // Nothing refers to keys, so only new keys, and keys with the same id as a new one, can cause contradictions.
    const names = new Set(entriesNotIn(current.keys, keys).map(({ id }) => id));
    looked.keys = keys.filter(({ id }) => names.has(id));
  }
  findContradictions(looked, () => {
    isGood = false;
  });
  return isGood;
}
