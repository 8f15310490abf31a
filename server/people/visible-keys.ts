/** What a person sees of keys: their own, and those of the groups that they manage. Pure. */
import type { KeyView } from '../contract/access-views.ts';
import { mayWithKey } from '../contract/key-rights.ts';
import type { Sight } from './visibility.ts';

/** A manager may not learn the secret of a member's own key. */
export function keptKeys(keys: readonly KeyView[], sight: Sight): KeyView[] {
  return keys
    .filter(({ id }) => sight.keys.has(id))
    .map((key) => ({ ...key, canReveal: key.canReveal && mayWithKey('secret-of-key', sight.person, key) }));
}
