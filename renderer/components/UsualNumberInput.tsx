import { NumberInput, type NumberInputProps } from '@mantine/core';
import { useState } from 'react';

interface UsualNumberInputProps extends Omit<NumberInputProps, 'value' | 'min' | 'onChange'> {
  min: number;
  value: number;
  /** What it is where nothing is entered. */
  usual: number;
  onChange(value: number): void;
}

/** A number that there always is. What is being typed stays as it is, and means what is usual until it is one that may be. */
export function UsualNumberInput({ value, usual, min, onChange, ...field }: UsualNumberInputProps) {
  const [typed, setTyped] = useState<number | string>(value);
  const meaningOf = (entered: number | string) => {
    const number = Number(entered);
    return entered !== '' && number >= min ? number : usual;
  };
  return (
    <NumberInput
      {...field}
      min={min}
      placeholder={`${usual}${field.suffix ?? ''}`}
      value={meaningOf(typed) === value ? typed : value}
      onChange={(entered) => {
        setTyped(entered);
        onChange(meaningOf(entered));
      }}
    />
  );
}
