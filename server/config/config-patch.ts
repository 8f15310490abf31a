/**
 * The difference between two configurations. With very many keys and groups, only the changed ones are stored and read.
 * Pure.
 */
import { z } from 'zod';
import type { Config } from '../contract/config.ts';
import { spliceBetween, spliced } from '../contract/list-splice.ts';

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
