import { useCallback, useMemo } from 'react';
import { useMessages } from '../../messages/use-messages.ts';
import { useControlState } from '../../state/use-control.ts';
import { useProviderName } from '../providers/use-provider-name.ts';
import type { Dimension } from './load-usage.ts';

/** What a person calls a key, group, provider or model by its id; null: the requests that had none. */
export function useNames(by: Dimension): (id: string | null) => string {
  const { nameless } = useMessages().overview;
  const providerName = useProviderName();
  const named = useControlState(({ views }) => (by === 'key' ? views?.keys : views?.groups));
  const names = useMemo(() => new Map(named?.map(({ id, name }) => [id, name ?? id])), [named]);
  return useCallback(
    (id) => {
      if (id === null) return nameless[by];
      if (by === 'provider') return providerName(id);
      return by === 'model' ? id : (names.get(id) ?? id);
    },
    [by, nameless, providerName, names],
  );
}
