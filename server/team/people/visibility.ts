/** The part of the configuration that is visible to a person. Pure. */

import type { KeyView } from '../../contract/access-views.ts';
import type { Config } from '../../contract/config.ts';
import { mayWithKey } from '../../contract/key-rights.ts';
import type { Person, Within } from '../../contract/people.ts';

export interface Visibility {
  /** Whether everything is visible, as for an administrator; then the sets are empty. */
  isAll: boolean;
  person: Person;
  /** Ids of the person's own keys. */
  ownKeys: ReadonlySet<string>;
  /** Own keys, and those of managed groups. */
  keys: ReadonlySet<string>;
  managed: ReadonlySet<string>;
  /** Managed groups, and those in which the person may have keys. */
  groups: ReadonlySet<string>;
}

/**
 * A key that was moved to a group of which its owner is not a member stays visible to the owner, so that it can be
 * revoked.
 */
export function visibilityOf(person: Person, { keys, groups }: Pick<Config, 'keys' | 'groups'>): Visibility {
  const nothing = new Set<string>();
  const base = { isAll: person.isAdmin, person };
  if (person.isAdmin) return { ...base, ownKeys: nothing, keys: nothing, managed: nothing, groups: nothing };
  const present = new Set(groups.map(({ id }) => id));
  const managed = new Set(person.manages.filter((id) => present.has(id)));
  const own = ownOf(person, { keys }).keyIds;
  const ofManaged = keys.filter(({ group }) => managed.has(group)).map(({ id }) => id);
  return {
    ...base,
    ownKeys: new Set(own),
    keys: new Set([...own, ...ofManaged]),
    managed,
    groups: new Set([...managed, ...person.memberOf.filter((id) => present.has(id))]),
  };
}

/** Undefined for all requests. */
export function withinOf(visibility: Visibility): Within | undefined {
  return visibility.isAll ? undefined : { keyIds: [...visibility.ownKeys], groupIds: [...visibility.managed] };
}

/** The requests made with the person's own keys. */
export function ownOf({ id }: Pick<Person, 'id'>, { keys }: Pick<Config, 'keys'>): Within {
  return { keyIds: keys.filter(({ owner }) => owner === id).map((key) => key.id), groupIds: [] };
}

/** Whether a request or session of this key and group is visible. */
export function sees(visibility: Visibility, entry: { keyId: string | null; groupId: string | null }): boolean {
  if (visibility.isAll) return true;
  return (
    (entry.keyId !== null && visibility.ownKeys.has(entry.keyId)) ||
    (entry.groupId !== null && visibility.managed.has(entry.groupId))
  );
}

// The keys that are visible to a person: their own, and those of groups that they manage. Pure.

/** A manager may not learn the secret of a member's own key. */
export function visibleKeys(keys: readonly KeyView[], visibility: Visibility): KeyView[] {
  return keys
    .filter(({ id }) => visibility.keys.has(id))
    .map((key) => ({ ...key, canReveal: key.canReveal && mayWithKey('secret-of-key', visibility.person, key) }));
}
