import { NativeSelect } from '@mantine/core';
import type { Kind } from '../../state/control/control-store.ts';
import classes from './FilterBar.module.css';
import { FindSelect } from './FindSelect.tsx';

/** Or all keys or groups. */
export type FilterOptions = readonly { value: string; label: string }[] | Kind;

interface FilterSelectProps {
  label: string;
  /** Label of the choice that filters nothing. */
  any: string;
  options: FilterOptions;
  /** Empty: any. */
  value: string;
  onChange(value: string): void;
}

/** One of the filter menus above a list. */
export function FilterSelect({ label, any, options, value, onChange }: FilterSelectProps) {
  if (typeof options === 'string') {
    return (
      <FindSelect
        {...{ className: classes.filter, size: 'xs', label, isBare: true, any }}
        kinds={[options]}
        chosen={value === '' ? null : { kind: options, id: value }}
        onChange={(chosen) => onChange(chosen?.id ?? '')}
      />
    );
  }
  // What is chosen may be gone, such as a provider that was removed.
  const isThere = value === '' || options.some((option) => option.value === value);
  return (
    <NativeSelect
      className={classes.filter}
      size="xs"
      aria-label={label}
      data={[{ value: '', label: any }, ...options, ...(isThere ? [] : [{ value, label: value }])]}
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  );
}
