import { TextInput } from '@mantine/core';
import { useMessages } from '../../../messages/use-messages.ts';

interface KeyNameProps {
  value: string;
  onChange(value: string): void;
  /** A new key needs a name, which distinguishes it from others. An old key may have none. */
  isNew?: boolean;
  /** Whether it has the focus when the form opens. */
  isFirst?: boolean;
}

export function KeyName({ value, onChange, isNew = false, isFirst = true }: KeyNameProps) {
  const { createKey: names } = useMessages();
  return (
    <TextInput
      label={names.name}
      description={names.nameHint}
      placeholder={names.namePlaceholder}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      maxLength={200}
      required={isNew}
      autoComplete="off"
      data-autofocus={isFirst || undefined}
    />
  );
}
