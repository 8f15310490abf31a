import { IconArrowDown, IconArrowUp } from '@tabler/icons-react';
import { useEffect, useRef } from 'react';
import { useLocation } from 'wouter';
import { useMessages } from '../../../messages/use-messages.ts';
import { type ShownFilter, type SortBy, searchOf } from '../../../state/requests/request-filter.ts';
import { type ColumnName, sortOfColumn } from './columns.ts';
import classes from './RequestTable.module.css';

/** The heading that was pressed. A new order mounts a new list, in which this heading gets the focus back. */
let pressed: ColumnName | null = null;

interface ColumnHeadsProps {
  names: readonly ColumnName[];
  filter: ShownFilter;
  /** Rows then have two lines that do not align with columns, so the headings are for screen readers only. */
  isNarrow: boolean;
}

/** The column headings. Those of sortable columns are buttons; the order is part of the address. */
export function ColumnHeads({ names, filter, isNarrow }: ColumnHeadsProps) {
  const { columns } = useMessages().requests;
  const isSortedBy = (by: SortBy | 'time' | undefined) => by !== undefined && by === (filter.sort?.by ?? 'time');
  const direction = filter.sort?.isAscending ? 'ascending' : 'descending';
  return (
    <tr className={classes.row}>
      {names.map((name) => {
        const by = sortOfColumn[name];
        return (
          <th key={name} className={classes[name]} aria-sort={isSortedBy(by) ? direction : undefined}>
            {by === undefined || isNarrow ? columns[name] : <SortHead name={name} by={by} filter={filter} />}
          </th>
        );
      })}
    </tr>
  );
}

interface SortHeadProps {
  name: ColumnName;
  by: SortBy | 'time';
  filter: ShownFilter;
}

/** Sorts by highest first; pressed again, by lowest first. */
function SortHead({ name, by, filter }: SortHeadProps) {
  const { columns } = useMessages().requests;
  const [, navigate] = useLocation();
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (pressed !== name) return;
    pressed = null;
    // Does not take the focus if the person has moved it meanwhile.
    if (document.activeElement === document.body) button.current?.focus();
  }, [name]);
  const { sort, ...others } = filter;
  const isSorted = by === (sort?.by ?? 'time');
  const choose = () => {
    const isAscending = isSorted && !sort?.isAscending;
    const next = searchOf(by === 'time' ? others : { ...others, sort: { by, isAscending } });
    if (next === searchOf(filter)) return;
    pressed = name;
    navigate(`/requests${next}`);
  };
  const Arrow = sort?.isAscending ? IconArrowUp : IconArrowDown;
  return (
    <button ref={button} type="button" className={classes.sortHead} onClick={choose}>
      {columns[name]}
      {isSorted && <Arrow className={classes.sortArrow} size={12} aria-hidden />}
    </button>
  );
}
