import { IconX } from '@tabler/icons-react';
import type { KeyboardEvent } from 'react';
import {
  conditionsOf,
  type FilterCondition,
  type FilterField,
  withoutCondition,
} from '../../../../server/contract/request-filter.ts';
import { useLocalization } from '../../../messages/use-messages.ts';
import { useNameOf } from '../../../state/control/use-found.ts';
import type { ShownFilter } from '../../../state/requests/request-filter.ts';
import classes from '../Requests.module.css';
import type { FilterValues } from './completions.ts';

interface FilterChipsProps {
  filter: ShownFilter;
  values: FilterValues;
  onChange(filter: ShownFilter): void;
}

/** What is shown as chips; the search stands in the box. */
export const chipsOf = (filter: ShownFilter) => conditionsOf(filter).filter(({ field }) => field !== 'text');

/** The conditions of the filter. Each is removed by a click, Enter, Delete or Backspace. */
export function FilterChips({ filter, values, onChange }: FilterChipsProps) {
  const { requests: names } = useLocalization().messages;
  const chips = chipsOf(filter);
  if (chips.length === 0) return null;
  return (
    <ul className={classes.chips} aria-label={names.conditions}>
      {chips.map((condition) => (
        <li key={condition.field}>
          <Chip
            condition={condition}
            values={values}
            onRemove={() => onChange(withoutCondition(filter, condition.field))}
          />
        </li>
      ))}
    </ul>
  );
}

interface ChipProps {
  condition: FilterCondition;
  values: FilterValues;
  onRemove(): void;
}

function Chip({ condition: { field, value }, values, onRemove }: ChipProps) {
  const { messages, formats } = useLocalization();
  const keyName = useNameOf('key', field === 'key' ? value : null);
  const groupName = useNameOf('group', field === 'group' ? value : null);
  const known = values.of(field).find((option) => option.value === value)?.label;
  const isTime = field === 'since' || field === 'until';
  const shown = isTime ? formats.dayAndClock(Date.parse(value)) : (keyName ?? groupName ?? known ?? value);
  const text = `${values.labelOf(field)}: ${shown}`;
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Delete' && event.key !== 'Backspace') return;
    event.preventDefault();
    onRemove();
  };
  return (
    <button
      type="button"
      className={classes.chip}
      aria-label={messages.requests.removeCondition(text)}
      onClick={onRemove}
      onKeyDown={onKeyDown}
    >
      <span className={classes.chipText}>{text}</span>
      <IconX size={12} aria-hidden />
    </button>
  );
}

/** The filter without its last chip. */
export function withoutLastChip(filter: ShownFilter): ShownFilter {
  const last: FilterField | undefined = chipsOf(filter).at(-1)?.field;
  return last === undefined ? filter : withoutCondition(filter, last);
}
