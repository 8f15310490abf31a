/** Finds keys and groups, for the queries `find-keys` and `find-groups` and for lists in the window. Pure. */
import { z } from 'zod';

/** Maximum number of keys, and of groups, that events contain: the first ones of the configuration. */
export const maxReported = 500;

export const findGroupsShape = {
  /** Each word of it is a part of the name, the id, the owner's id or the last characters of the secret, in any case. */
  search: z.string().max(200).default(''),
  /** Restricts the result to these ids. */
  ids: z.array(z.string().max(200)).max(maxReported).optional(),
  /** Only those whose budget is nearly spent or cannot be counted; and keys that have expired or soon will. */
  needsAttention: z.boolean().default(false),
  limit: z.number().int().min(1).max(maxReported).default(50),
};

export const findKeysShape = {
  ...findGroupsShape,
  /** Only keys of this group. */
  group: z.string().max(200).optional(),
  /** Only keys that are switched on, or off. */
  enabled: z.boolean().optional(),
};

export interface Found<View> {
  /** In the configuration's order, after exact matches of the name or id. */
  found: View[];
  /** Number of matches, regardless of `limit`. */
  total: number;
}

/** Conditions for a key or group; an absent field matches any. */
export interface Wanted {
  search?: string | undefined;
  ids?: readonly string[] | undefined;
  group?: string | undefined;
  enabled?: boolean | undefined;
}

type Searched = { [Field in 'name' | 'owner' | 'suffix']?: string | null | undefined } & {
  id: string;
  group?: string;
  enabled?: boolean;
};

/** Returns the matching entries in their order, after exact matches of the name or id. */
export function fitting<Entry extends Searched>(entries: readonly Entry[], filter: Wanted): Entry[] {
  const { search = '', ids, group, enabled } = filter;
  const text = search.trim().toLowerCase();
  const words = text.split(/\s+/);
  const wantedIds = ids && new Set(ids);
  const matches = entries.filter(
    (entry) =>
      (!wantedIds || wantedIds.has(entry.id)) &&
      (group === undefined || entry.group === group) &&
      (enabled === undefined || entry.enabled === enabled) &&
      (text === '' || hasWords(entry, words)),
  );
  const isCalled = ({ id, name }: Searched) => [id, name].some((each) => each?.toLowerCase() === text);
  const exactMatches = text === '' ? [] : matches.filter(isCalled);
  return exactMatches.length === 0 ? matches : [...exactMatches, ...matches.filter((entry) => !isCalled(entry))];
}

function hasWords({ id, name, owner, suffix }: Searched, words: readonly string[]): boolean {
  return words.every((word) => [name, id, owner, suffix].some((text) => text?.toLowerCase().includes(word)));
}
