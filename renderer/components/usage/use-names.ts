import { useCallback } from 'react';
import { groupOfShadows } from '../../../server/contract/ledger.ts';
import { useMessages } from '../../messages/use-messages.ts';
import { useNamesOf } from '../../state/control/use-found.ts';
import { useProviderName } from '../../state/providers/providers.ts';
import type { Dimension } from './load-usage.ts';

/** What a person calls a key, group, provider or model by its id, of those that are shown; null: the requests that had none. */
export function useNames(by: Dimension, shownIds: readonly (string | null)[]): (id: string | null) => string {
  const { overview, requests } = useMessages();
  const { nameless } = overview;
  const providerName = useProviderName();
  const ids = shownIds.filter((id) => id !== null);
  const names = useNamesOf(by === 'key' ? 'key' : 'group', by === 'key' || by === 'group' ? ids : []);
  return useCallback(
    (id) => {
      if (id === null) return nameless[by];
      if (by === 'provider') return providerName(id);
      if (by === 'model') return id;
      const group = groupOfShadows(id);
      return group === null ? (names.get(id) ?? id) : requests.shadows.account(group);
    },
    [by, nameless, providerName, names, requests],
  );
}
