/**
 * Validates a configuration of which most entries were valid before: only the new ones are parsed, because there may be
 * very many.
 */
import { z } from 'zod';
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

// The difference between two configurations. With very many keys and groups, only the changed ones are stored and
// read.

const listNames = ['providers', 'aliases', 'groups', 'keys'] as const;
type ListName = (typeof listNames)[number];

/** A configuration whose entries may not be validated yet. */
export type ConfigLists = Partial<Record<ListName, readonly unknown[] | undefined>>;

const spliceSchema = z.strictObject({
  at: z.number().int().min(0),
  removed: z.number().int().min(0),
  entries: z.array(z.unknown()).readonly(),
});

/** All of the later configuration except its lists, and the changes of the lists. */
const patchSchema = z.looseObject({
  providers: spliceSchema.optional(),
  aliases: spliceSchema.optional(),
  groups: spliceSchema.optional(),
  keys: spliceSchema.optional(),
});
export type ConfigPatch = z.infer<typeof patchSchema>;

/** Entries are compared by identity. */
export function patchBetween(before: Config, after: Config): ConfigPatch {
  const { providers, aliases, groups, keys, ...rest } = after;
  const patch: ConfigPatch = rest;
  for (const name of listNames) {
    const splice = spliceBetween<unknown>(before[name], after[name]);
    if (splice) patch[name] = splice;
  }
  return patch;
}

/** The number of entries that the patch contains. */
export function entriesIn(patch: ConfigPatch): number {
  return listNames.reduce((sum, name) => sum + (patch[name]?.entries.length ?? 0), 0);
}

/**
 * The later configuration, with the same objects for what has not changed. Null if it is not a patch, or one for
 * another configuration.
 */
export function applyPatch(before: ConfigLists, value: unknown): ConfigLists | null {
  const { data: patch } = patchSchema.safeParse(value);
  if (!patch) return null;
  const { providers, aliases, groups, keys, ...rest } = patch;
  const splices = { providers, aliases, groups, keys };
  const lists: ConfigLists = {};
  for (const name of listNames) {
    const [list, splice] = [before[name] ?? [], splices[name]];
    const next = splice ? spliced(list, splice) : list;
    if (!next) return null;
    lists[name] = next;
  }
  return { ...rest, ...lists };
}
