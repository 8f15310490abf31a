/** Controls around a list that may be very long: a search box above it, and below it how much is shown. */
import { Button, TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useLocalization, useMessages } from '../../messages/use-messages.ts';
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
