/**
 * Validates a configuration of which most entries were valid before: only the new ones are parsed, because there may be
 * very many.
 */
import type { z } from 'zod';
import {
  aliasSchema,
  type Config,
  configSchema,
  findContradictions,
  groupSchema,
  keySchema,
  providerSchema,
} from '../contract/config.ts';
import { entriesNotIn, spliceBetween, spliced } from '../contract/list-splice.ts';
import type { ConfigLists } from './config-patch.ts';

/**
 * What the schema makes of `next`. Entries that are those of `known`, a valid configuration, stay the same objects, and
 * so do lists in which nothing has changed. Null if something is invalid; validation by the whole schema then reports
 * what.
 */
export function parseBeside(next: ConfigLists, known: Config): Config | null {
  const rest = configSchema.safeParse({ ...next, providers: [], aliases: [], groups: [], keys: [] });
  const providers = parseList(providerSchema, next.providers, known.providers);
  const aliases = parseList(aliasSchema, next.aliases, known.aliases);
  const groups = parseList(groupSchema, next.groups, known.groups);
  const keys = parseList(keySchema, next.keys, known.keys);
  if (!rest.success || !providers || !aliases || !groups || !keys) return null;
  const config = { ...rest.data, providers, aliases, groups, keys };
  return isConsistent(config, known) ? config : null;
}

/** Null if an entry is invalid. */
function parseList<Entry extends object>(
  schema: z.ZodType<Entry>,
  given: readonly unknown[] | undefined,
  known: Entry[],
): Entry[] | null {
  const splice = spliceBetween(known, given ?? []);
  if (!splice) return known;
  const replaced = new Set<unknown>(known.slice(splice.at, splice.at + splice.removed));
  const isValid = (entry: unknown): entry is Entry => replaced.has(entry);
  const entries: Entry[] = [];
  for (const each of splice.entries) {
    const entry = isValid(each) ? each : schema.safeParse(each).data;
    if (entry === undefined) return null;
    entries.push(entry);
  }
  return spliced(known, { ...splice, entries });
}

function isConsistent(config: Config, known: Config): boolean {
  const { providers, aliases, groups, keys } = config;
  let isGood = true;
  const looked = { ...config };
  if (providers === known.providers && aliases === known.aliases && groups === known.groups) {
    // Nothing refers to keys, so only new keys, and keys with the same id as a new one, can cause contradictions.
    const names = new Set(entriesNotIn(known.keys, keys).map(({ id }) => id));
    looked.keys = keys.filter(({ id }) => names.has(id));
  }
  findContradictions(looked, () => {
    isGood = false;
  });
  return isGood;
}
