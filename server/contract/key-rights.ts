/** What a person may do with a key. The engine enforces it, and the window offers nothing else. Pure. */
import type { Person } from './people.ts';

/**
 * `secret-of-key`: to reveal or replace it; reserved to the owner, or, for a key without an owner, to the group's
 * managers.
 */
export type KeyRight = 'manager-of-key' | 'owner-or-manager-of-key' | 'secret-of-key';

/** Of a key in the configuration, or of its view. */
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
