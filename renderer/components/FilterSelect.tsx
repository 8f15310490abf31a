import { NativeSelect } from '@mantine/core';
import classes from './FilterBar.module.css';

interface FilterSelectProps {
  label: string;
  /** Label of the choice that filters nothing. */
  any: string;
  options: readonly { value: string; label: string }[];
  /** Empty: any. */
  value: string;
  onChange(value: string): void;
}

/** One of the filter menus above a list. */
export function FilterSelect({ label, any, options, value, onChange }: FilterSelectProps) {
  // What is chosen may be gone, such as a key that was revoked.
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
