import { CopyButton } from './CopyButton.tsx';
import classes from './CopyLine.module.css';

interface CopyLineProps {
  value: string;
  /** Name of the text, for screen readers. */
  label: string;
  /** Truncate instead of wrapping. */
  oneLine?: boolean;
}

/** A text to be used elsewhere, such as an address or a command, with its copy button. */
export function CopyLine({ value, label, oneLine = false }: CopyLineProps) {
  return (
    <div className={classes.line}>
      <code
        className={oneLine ? `${classes.text} ${classes.oneLine}` : classes.text}
        title={oneLine ? value : undefined}
      >
        {value}
      </code>
      <CopyButton value={value} label={label} />
    </div>
  );
}
