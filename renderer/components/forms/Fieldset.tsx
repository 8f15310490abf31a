import type { ReactNode } from 'react';
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
