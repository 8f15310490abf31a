/** What a person may do with a key. The engine refuses everything else, and the window does not offer it. Pure. */
import type { Person } from './people.ts';

/**
 * `secret-of-key`: may show or replace the secret. Only the owner has this right; if the key has no owner, its group's
 * managers have it.
 */
export type KeyRight = 'manager-of-key' | 'owner-or-manager-of-key' | 'secret-of-key';

/** A key of the configuration, or its view. */
interface OwnedKey {
  group: string;
  owner?: string | null | undefined;
}

export function mayWithKey(right: KeyRight, person: Person, { group, owner = null }: OwnedKey): boolean {
  const { isAdmin, manages, memberOf } = person;
  const isOwn = owner === person.id;
  const isManaged = isAdmin || manages.includes(group);
  switch (right) {
    case 'manager-of-key':
      return isManaged;
    case 'owner-or-manager-of-key':
      return isOwn || isManaged;
    case 'secret-of-key':
      if (isAdmin) return true;
      return owner === null ? isManaged : isOwn && (isManaged || memberOf.includes(group));
  }
}
