import { useMemo } from 'react';
import { useControlState } from '../../state/use-control.ts';
import type { Dimension } from './use-usage.ts';

/** What a person calls a key, group, provider or model; null for what has none. */
export function useNames(by: Dimension): (id: string | null) => string | null {
  const views = useControlState((state) => state.views);
  return useMemo(() => {
    const named = { key: views?.keys, group: views?.groups, provider: views?.providers, model: undefined }[by] ?? [];
    const names = new Map(named.map(({ id, name }) => [id, name ?? id]));
    return (id) => (id === null ? null : (names.get(id) ?? id));
  }, [views?.keys, views?.groups, views?.providers, by]);
}
