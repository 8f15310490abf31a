import { NativeSelect } from '@mantine/core';
import { useMessages } from '../../messages/use-messages.ts';
import classes from './Requests.module.css';
import { type ShownFilter, sorts } from './request-filter.ts';

interface SortChoiceProps {
  filter: ShownFilter;
  onChange(filter: ShownFilter): void;
}

/** By time, or by what a request took or cost, the highest first. */
export function SortChoice({ filter, onChange }: SortChoiceProps) {
  const { requests: names } = useMessages();
  const { sort, ...others } = filter;
  const choose = (value: string) => {
    const by = sorts.find((each) => each === value);
    onChange(by ? { ...others, sort: { by, isAscending: false } } : others);
  };
  return (
    <NativeSelect
      className={classes.sort}
      size="xs"
      aria-label={names.sort}
      data={[{ value: '', label: names.newestFirst }, ...sorts.map((by) => ({ value: by, label: names.sorts[by] }))]}
      value={sort?.by ?? ''}
      onChange={({ currentTarget }) => choose(currentTarget.value)}
    />
  );
}
