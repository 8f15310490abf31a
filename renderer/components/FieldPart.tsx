import { Fieldset } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './FieldPart.module.css';

interface FieldPartProps {
  legend: string;
  /** What the fields have in common. */
  hint?: string;
  children: ReactNode;
}

/** Fields of a form that belong together, one below the other. */
export function FieldPart({ legend, hint, children }: FieldPartProps) {
  return (
    <Fieldset legend={legend} className={classes.part}>
      {hint !== undefined && <p className={classes.hint}>{hint}</p>}
      {children}
    </Fieldset>
  );
}
