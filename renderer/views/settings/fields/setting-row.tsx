import { VisuallyHidden } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './SettingRow.module.css';

const inputWrapperOrder: ('label' | 'description' | 'input' | 'error')[] = ['label', 'description', 'input', 'error'];
const classNames = {
  root: classes.row ?? '',
  label: classes.label ?? '',
  description: classes.description ?? '',
  error: classes.error ?? '',
};

/**
 * Lays a Mantine field out as a row of a settings list: label and help text on the left, and on the right the field
 * with its unit beside it and its error below. For screen readers, the label includes the unit.
 */
export function settingRow(label: string, unit?: string) {
  return {
    label: unit === undefined ? label : <LabelWithUnit label={label} unit={unit} />,
    inputContainer: (input: ReactNode) => (
      <div className={classes.field}>
        {input}
        {unit !== undefined && (
          <span className={classes.unit} aria-hidden>
            {unit}
          </span>
        )}
      </div>
    ),
    inputWrapperOrder,
    classNames,
  };
}

function LabelWithUnit({ label, unit }: { label: string; unit: string }) {
  return (
    <>
      {label}
      <VisuallyHidden component="span"> ({unit})</VisuallyHidden>
    </>
  );
}
