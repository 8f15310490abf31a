/**
 * Locks of team presets and their lookup, for the engine and the window. Does not import zod, because the window
 * imports it.
 */

/** The parts of a configuration that a preset can lock. */
export const lockableParts = ['providers', 'aliases', 'groups', 'settings'] as const;
export type LockablePart = (typeof lockableParts)[number];

/**
 * Something that cannot be changed. `path` is one of
 * - `groups`: no group can be added;
 * - `groups/default`: the group cannot be removed;
 * - `groups/default/models`, or `groups/own/*` for all its fields: the field cannot be changed;
 * - `settings/ledger.retentionDays`: the setting cannot be changed.
 */
export interface Lock {
  path: string;
  /** The preset's organisation. */
  by: string;
  /** Whom to ask; null if the preset names no contact. */
  contact: string | null;
}

/** Each lookup returns the lock that forbids the action, or null. */
export interface Locks {
  adding(part: LockablePart): Lock | null;
  removing(part: LockablePart, id: string): Lock | null;
  changing(part: LockablePart, id: string, field: string): Lock | null;
  /** `field` may name a group of settings; any lock within it counts. */
  setting(field: string): Lock | null;
}

export function findLocks(locks: readonly Lock[]): Locks {
  const byPath = new Map(locks.map((lock) => [lock.path, lock]));
  const at = (path: string) => byPath.get(path) ?? null;
  return {
    adding: at,
    removing: (part, id) => at(`${part}/${id}`),
    changing: (part, id, field) => at(`${part}/${id}/${field}`) ?? at(`${part}/${id}/*`),
    setting: (field) =>
      at(`settings/${field}`) ?? locks.find(({ path }) => path.startsWith(`settings/${field}.`)) ?? null,
  };
}
