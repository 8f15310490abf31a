import { CloseButton, TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import { useMessages } from '../../../messages/use-messages.ts';
import classes from '../Requests.module.css';

/** The search starts this long after the last key press. */
const restMs = 300;

interface SearchBoxProps {
  /** The search in the address. */
  value: string;
  onChange(value: string): void;
}

/** Searches ids, names, errors and captured text. Keeps the focus while the list below changes. */
export function SearchBox({ value, onChange }: SearchBoxProps) {
  const { requests: names } = useMessages();
  const [text, setText] = useState(value);
  const lastSent = useRef(value);
  const search = useRef(onChange);
  search.current = onChange;
  // The address was changed by Back, a saved filter or "Show all".
  useEffect(() => {
    if (value === lastSent.current) return;
    lastSent.current = value;
    setText(value);
  }, [value]);
  useEffect(() => {
    if (text === lastSent.current) return;
    const timer = setTimeout(() => {
      lastSent.current = text;
      search.current(text);
    }, restMs);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <TextInput
      className={classes.search}
      type="search"
      size="xs"
      aria-label={names.search}
      placeholder={names.searchHint}
      maxLength={200}
      leftSection={<IconSearch size={14} aria-hidden />}
      rightSection={text !== '' && <CloseButton size="xs" aria-label={names.clearSearch} onClick={() => setText('')} />}
      value={text}
      onChange={({ currentTarget }) => setText(currentTarget.value)}
    />
  );
}
