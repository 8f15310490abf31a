/** Controls around a list that may be very long: a search box above it, and below it how much is shown. */
import { Button, TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useLocalization, useMessages } from '../messages/use-messages.ts';
import classes from './LongList.module.css';

/** Lists of up to this length need no search. */
const shortLength = 12;
/** How many more are shown at a time. */
export const pageLength = 50;

interface ListSearchProps {
  label: string;
  /** Length of the whole list. */
  count: number;
  value: string;
  onChange(value: string): void;
}

/** Renders nothing while the list is short. */
export function ListSearch({ label, count, value, onChange }: ListSearchProps) {
  if (count <= shortLength && value === '') return null;
  return (
    <TextInput
      className={classes.search}
      type="search"
      aria-label={label}
      placeholder={label}
      leftSection={<IconSearch size={16} aria-hidden />}
      value={value}
      maxLength={200}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}

interface ListEndProps {
  shown: number;
  /** Number of matches. */
  total: number;
  /** No more than this can be shown. */
  most?: number;
  onMore(): void;
}

/** Nothing where all is shown. */
export function ListEnd({ shown, total, most = Number.POSITIVE_INFINITY, onMore }: ListEndProps) {
  const { formats } = useLocalization();
  const { longList: names } = useMessages();
  if (total === 0) return <p className={classes.none}>{names.none}</p>;
  if (shown >= total) return null;
  return (
    <div className={classes.end}>
      <span role="status">{names.shown(formats.number(shown), formats.number(total))}</span>
      {shown < most && (
        <Button size="xs" variant="default" onClick={onMore}>
          {names.more}
        </Button>
      )}
    </div>
  );
}
