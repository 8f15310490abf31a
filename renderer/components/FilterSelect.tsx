import { NativeSelect } from '@mantine/core';
import classes from './FilterBar.module.css';

interface FilterSelectProps {
  label: string;
  /** What is chosen where nothing is left out. */
  any: string;
  options: readonly { value: string; label: string }[];
  /** Empty: any. */
  value: string;
  onChange(value: string): void;
}

/** One of the menus above a list that choose what it shows. */
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
