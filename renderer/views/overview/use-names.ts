import { useCallback, useMemo } from 'react';
import { groupOfShadows } from '../../../server/contract/ledger.ts';
import { useMessages } from '../../messages/use-messages.ts';
import { useControlState } from '../../state/use-control.ts';
import { useProviderName } from '../providers/use-provider-name.ts';
import type { Dimension } from './load-usage.ts';

/** What a person calls a key, group, provider or model by its id; null: the requests that had none. */
export function useNames(by: Dimension): (id: string | null) => string {
  const { overview, shadows } = useMessages();
  const { nameless } = overview;
  const providerName = useProviderName();
  const named = useControlState(({ views }) => (by === 'key' ? views?.keys : views?.groups));
  const names = useMemo(() => new Map(named?.map(({ id, name }) => [id, name ?? id])), [named]);
  return useCallback(
    (id) => {
      if (id === null) return nameless[by];
      if (by === 'provider') return providerName(id);
      if (by === 'model') return id;
      const group = groupOfShadows(id);
      return group === null ? (names.get(id) ?? id) : shadows.account(group);
    },
    [by, nameless, providerName, names, shadows],
  );
}
