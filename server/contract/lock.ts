/** What a team preset has fixed, and how both the engine and the window ask. Bears no schema, since it goes into the window. */

/** The parts of a configuration that a preset can fix something in. */
export const lockableParts = ['providers', 'aliases', 'groups', 'settings'] as const;
export type LockablePart = (typeof lockableParts)[number];

/**
 * One thing that cannot be changed. `path` is one of
 * - `groups`: nothing can be added there;
 * - `groups/default`: it cannot be removed;
 * - `groups/default/models`, or `groups/own/*` for all of it: it cannot be changed;
 * - `settings/ledger.retentionDays`: the same, for a setting.
 */
export interface Lock {
  path: string;
  /** Who has set it: the preset's organisation. */
  by: string;
  /** Whom to ask about it; null if the preset does not say. */
  contact: string | null;
}

/** Answers with the lock that stands in the way, or null. */
export interface Locks {
  adding(part: LockablePart): Lock | null;
  removing(part: LockablePart, id: string): Lock | null;
  changing(part: LockablePart, id: string, field: string): Lock | null;
  /** `field` may name a group of settings, of which any is locked. */
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
