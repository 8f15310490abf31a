import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import { maxReported } from '../../../server/contract/find.ts';
import type { FindQuestion, Kind } from '../../state/control/control-store.ts';
import { useFound } from '../../state/control/use-found.ts';
import { pageLength, searchDelayMs } from './LongList.tsx';

/** The state of a screen that lists all keys or groups: a search, and a number of matches that can be increased. */
export function useLongList<K extends Kind>(kind: K, filter: Pick<FindQuestion, 'group'> = {}) {
  const [search, setSearch] = useState('');
  const [limit, setLimit] = useState(pageLength);
  const [settledSearch] = useDebouncedValue(search, searchDelayMs);
  return {
    ...useFound(kind, { ...filter, search: settledSearch, limit }),
    search,
    setSearch,
    showMore: () => setLimit((before) => Math.min(before + pageLength, maxReported)),
  };
}
