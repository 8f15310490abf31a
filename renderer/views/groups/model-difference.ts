import type { ModelView } from '../../../server/contract/access-views.ts';

/** What saving a group would add to and remove from the models of its keys, by name. */
export interface ModelDifference {
  gained: ReadonlySet<string>;
  lost: readonly string[];
}

/** Empty while one of the two lists is unknown. */
export function differenceOf(
  saved: readonly Pick<ModelView, 'id'>[] | null,
  edited: readonly Pick<ModelView, 'id'>[] | null,
): ModelDifference {
  if (!saved || !edited) return { gained: new Set(), lost: [] };
  const before = new Set(saved.map(({ id }) => id));
  const after = new Set(edited.map(({ id }) => id));
  return {
    gained: new Set([...after].filter((id) => !before.has(id))),
    lost: [...before].filter((id) => !after.has(id)),
  };
}
