/** The difference between two configurations, so that of very many keys and groups only those that change are stored and read. Pure. */
import { z } from 'zod';
import type { Config } from '../contract/config.ts';

const listNames = ['providers', 'aliases', 'groups', 'keys'] as const;
type ListName = (typeof listNames)[number];

/** A configuration whose entries need not be checked yet. */
export type ConfigLists = Partial<Record<ListName, readonly unknown[] | undefined>>;

/** In place of `removed` entries from index `at` on stand these. */
const spliceSchema = z.strictObject({
  at: z.number().int().min(0),
  removed: z.number().int().min(0),
  entries: z.array(z.unknown()).readonly(),
});
type Splice = z.infer<typeof spliceSchema>;

/** Everything of the later configuration but its lists, and what has changed in these. */
const patchSchema = z.looseObject({
  providers: spliceSchema.optional(),
  aliases: spliceSchema.optional(),
  groups: spliceSchema.optional(),
  keys: spliceSchema.optional(),
});
export type ConfigPatch = z.infer<typeof patchSchema>;

/** Entries are the same if they are the same object. */
export function patchBetween(before: Config, after: Config): ConfigPatch {
  const { providers, aliases, groups, keys, ...rest } = after;
  const patch: ConfigPatch = rest;
  for (const name of listNames) {
    const splice = spliceBetween(before[name], after[name]);
    if (splice) patch[name] = splice;
  }
  return patch;
}

/** How many entries the patch contains. */
export function entriesIn(patch: ConfigPatch): number {
  return listNames.reduce((sum, name) => sum + (patch[name]?.entries.length ?? 0), 0);
}

/** The later configuration, with the same objects for what has not changed. Null: it is no patch, or one of another configuration. */
export function applyPatch(before: ConfigLists, given: unknown): ConfigLists | null {
  const { data: patch } = patchSchema.safeParse(given);
  if (!patch) return null;
  const { providers, aliases, groups, keys, ...rest } = patch;
  const splices = { providers, aliases, groups, keys };
  const lists: ConfigLists = {};
  for (const name of listNames) {
    const list = spliced(before[name] ?? [], splices[name]);
    if (!list) return null;
    lists[name] = list;
  }
  return { ...rest, ...lists };
}

function spliced(list: readonly unknown[], splice: Splice | undefined): readonly unknown[] | null {
  if (!splice) return list;
  const { at, removed, entries } = splice;
  // Without spread arguments, of which there may be too many.
  return at + removed <= list.length ? [...list.slice(0, at), ...entries, ...list.slice(at + removed)] : null;
}

function spliceBetween(before: readonly object[], after: readonly object[]): Splice | null {
  if (before === after) return null;
  const shorter = Math.min(before.length, after.length);
  let at = 0;
  while (at < shorter && before[at] === after[at]) at += 1;
  let kept = 0;
  while (kept < shorter - at && before.at(-1 - kept) === after.at(-1 - kept)) kept += 1;
  const removed = before.length - at - kept;
  const entries = after.slice(at, after.length - kept);
  return removed === 0 && entries.length === 0 ? null : { at, removed, entries };
}
