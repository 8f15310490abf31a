import type { ReactNode } from 'react';
import classes from './FieldPart.module.css';

interface FieldPartProps {
  legend: string;
  /** What the fields have in common. */
  hint?: string;
  children: ReactNode;
}

/** Fields of a form that belong together, one below the other; a line parts them from what comes before. */
export function FieldPart({ legend, hint, children }: FieldPartProps) {
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
