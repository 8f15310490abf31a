import { NumberInput, type NumberInputProps } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import classes from './Fieldset.module.css';

interface FieldsetProps {
  legend: string;
  /** Explains what the fields have in common. */
  hint?: string;
  children: ReactNode;
}

/** Related fields of a form in a column, with a line above to separate them from the previous ones. */
export function Fieldset({ legend, hint, children }: FieldsetProps) {
  return (
    <div className={classes.part}>
      <fieldset className={classes.fields}>
        <legend className={classes.legend}>{legend}</legend>
        {hint !== undefined && <p className={classes.hint}>{hint}</p>}
        {children}
      </fieldset>
    </div>
  );
}

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
