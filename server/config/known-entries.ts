/** Validates a configuration of which most entries were valid before: of very many, only the new ones are parsed. */
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
import type { ConfigLists } from './config-patch.ts';

/**
 * What the schema makes of `next`. Entries that are those of `known`, a valid configuration, stay the same objects, and so do lists
 * in which nothing has changed. Null if something is wrong: the whole schema says what.
 */
export function parseBeside(next: ConfigLists, known: Config): Config | null {
  const rest = configSchema.safeParse({ ...next, providers: [], aliases: [], groups: [], keys: [] });
  const providers = parseList(providerSchema, next.providers, known.providers);
  const aliases = parseList(aliasSchema, next.aliases, known.aliases);
  const groups = parseList(groupSchema, next.groups, known.groups);
  const keys = parseList(keySchema, next.keys, known.keys);
  if (!rest.success || !providers || !aliases || !groups || !keys) return null;
  const config = { ...rest.data, providers, aliases, groups, keys };
  let isGood = true;
  findContradictions(config, () => {
    isGood = false;
  });
  return isGood ? config : null;
}

/** Null if an entry is wrong. */
function parseList<Entry extends object>(
  schema: z.ZodType<Entry>,
  given: readonly unknown[] | undefined,
  known: Entry[],
): Entry[] | null {
  if (given === known) return known;
  if (given === undefined) return [];
  const valid = new Set<unknown>(known);
  const isValid = (entry: unknown): entry is Entry => valid.has(entry);
  const parsed: Entry[] = [];
  for (const each of given) {
    const entry = isValid(each) ? each : schema.safeParse(each).data;
    if (entry === undefined) return null;
    parsed.push(entry);
  }
  const isSame = parsed.length === known.length && parsed.every((entry, index) => entry === known[index]);
  return isSame ? known : parsed;
}
