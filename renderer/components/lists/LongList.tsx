/** Controls around a list that may be very long: a search box above it, and below it how much is shown. */
import { Button, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { maxReported } from '../../../server/contract/find.ts';
import { useLocalization, useMessages } from '../../messages/use-messages.ts';
import type { FindQuestion, Kind } from '../../state/control/control-store.ts';
import { useFound } from '../../state/control/use-found.ts';
import classes from './LongList.module.css';

/** Lists of up to this length need no search. */
export const shortLength = 12;
/** How many more are shown at a time. */
export const pageLength = 50;
/** While someone types. */
export const searchDelayMs = 150;

interface ListSearchProps {
  label: string;
  /** Length of the whole list. */
  count: number;
  value: string;
  onChange(value: string): void;
  /** What else leaves some out. */
  children?: ReactNode;
}

/** Renders nothing while the list is short, unless `children` filter it. */
export function ListSearch({ label, count, value, onChange, children }: ListSearchProps) {
  if (count <= shortLength && value === '' && !children) return null;
  return (
    <search className={classes.search}>
      <TextInput
        className={classes.field}
        type="search"
        aria-label={label}
        placeholder={label}
        leftSection={<IconSearch size={16} aria-hidden />}
        value={value}
        maxLength={200}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
      {children}
    </search>
  );
}

interface ListEndProps {
  shown: number;
  /** Number of matches. */
  total: number;
  /** No more than this can be shown. */
  most: number;
  onMore(): void;
}

/** Nothing where all is shown. */
export function ListEnd({ shown, total, most, onMore }: ListEndProps) {
  const { formats } = useLocalization();
  const { longList: names } = useMessages();
  if (total === 0) return <p className={classes.none}>{names.none}</p>;
  if (shown >= total) return null;
  return (
    <div className={classes.end}>
      <span role="status">
        {(shown < most ? names.shown : names.onlyFirst)(formats.number(shown), formats.number(total))}
      </span>
      {shown < most && (
        <Button size="xs" variant="default" onClick={onMore}>
          {names.more}
        </Button>
      )}
    </div>
  );
}

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
