import { NumberInput, type NumberInputProps } from '@mantine/core';
import { useState } from 'react';

interface DefaultedNumberInputProps extends Omit<NumberInputProps, 'value' | 'min' | 'onChange'> {
  min: number;
  value: number;
  /** The value that an empty input stands for. */
  defaultNumber: number;
  onChange(value: number): void;
}

/**
 * A number input that always has a value. Typed text stays as it is, and stands for the usual value until it is a valid
 * number.
 */
export function DefaultedNumberInput({ value, defaultNumber, min, onChange, ...field }: DefaultedNumberInputProps) {
  const [typed, setTyped] = useState<number | string>(value);
  const meaningOf = (entered: number | string) => {
    const number = Number(entered);
    return entered !== '' && number >= min ? number : defaultNumber;
  };
  return (
    <NumberInput
      {...field}
      min={min}
      placeholder={`${defaultNumber}${field.suffix ?? ''}`}
      value={meaningOf(typed) === value ? typed : value}
      onChange={(entered) => {
        setTyped(entered);
        onChange(meaningOf(entered));
      }}
    />
  );
}
