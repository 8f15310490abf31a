import { NativeSelect } from '@mantine/core';
import { useLocation } from 'wouter';
import { useMessages } from '../../../messages/use-messages.ts';
import { type ShownFilter, searchOf, sortOf, sorts, sortTextOf } from '../../../state/requests/request-filter.ts';
import classes from '../Requests.module.css';

/** Replaces the sortable column headings if there is no room for columns. */
export function SortChoice({ filter }: { filter: ShownFilter }) {
  const { requests: names } = useMessages();
  const [, navigate] = useLocation();
  const { sort, ...others } = filter;
  const choose = (value: string) => {
    const chosen = sortOf(value);
    navigate(`/requests${searchOf(chosen ? { ...others, sort: chosen } : others)}`);
  };
  return (
    <NativeSelect
      className={classes.sort}
      size="xs"
      aria-label={names.sort}
      data={[
        { value: '', label: names.newestFirst },
        ...sorts.map((by) => ({ value: `-${by}`, label: names.highestFirst[by] })),
        ...sorts.map((by) => ({ value: by, label: names.lowestFirst[by] })),
      ]}
      value={sort ? sortTextOf(sort) : ''}
      onChange={({ currentTarget }) => choose(currentTarget.value)}
    />
  );
}
