/** The keys that are visible to a person: their own, and those of groups that they manage. Pure. */
import type { KeyView } from '../../contract/access-views.ts';
import { mayWithKey } from '../../contract/key-rights.ts';
import type { Visibility } from './visibility.ts';

/** A manager may not learn the secret of a member's own key. */
export function visibleKeys(keys: readonly KeyView[], visibility: Visibility): KeyView[] {
  return keys
    .filter(({ id }) => visibility.keys.has(id))
    .map((key) => ({ ...key, canReveal: key.canReveal && mayWithKey('secret-of-key', visibility.person, key) }));
}
