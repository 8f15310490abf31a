/** Searches large lists of keys, for the query `find-keys` and for lists in the window. Pure. */
import { z } from 'zod';
import type { KeyView } from './access-views.ts';

/** Maximum number of keys in an event; these are the first ones of the configuration. */
export const maxKeysReported = 500;

export const findKeysShape = {
  /** Part of the name, the id, the owner's id or the last characters of the secret; case is ignored. */
  search: z.string().max(200).default(''),
  /** Only keys with these ids. */
  ids: z.array(z.string().max(200)).max(maxKeysReported).optional(),
  /** Only keys of this group. */
  group: z.string().max(200).optional(),
  limit: z.number().int().min(1).max(maxKeysReported).default(50),
};

export interface FoundKeys {
  /** In the configuration's order. */
  keys: KeyView[];
  /** Number of matching keys, regardless of `limit`. */
  total: number;
}

type Searched = { [Field in 'name' | 'owner' | 'suffix']?: string | null | undefined } & { id: string; group: string };

export function fitsKey(
  { id, name, owner, suffix, group }: Searched,
  asked: { search?: string | undefined; group?: string | undefined },
): boolean {
  if (asked.group !== undefined && asked.group !== group) return false;
  const wanted = asked.search?.trim().toLowerCase() ?? '';
  return wanted === '' || [id, name, owner, suffix].some((text) => text?.toLowerCase().includes(wanted));
}
