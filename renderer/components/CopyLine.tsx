import { CopyButton } from './CopyButton.tsx';
import classes from './CopyLine.module.css';

interface CopyLineProps {
  value: string;
  /** What it is, for who cannot see where it stands. */
  what: string;
  /** Cut it rather than let it wrap. */
  oneLine?: boolean;
}

/** A text to be used elsewhere, such as an address or a command, with its copy button. */
export function CopyLine({ value, what, oneLine = false }: CopyLineProps) {
  return (
    <div className={classes.line}>
      <code
        className={oneLine ? `${classes.text} ${classes.oneLine}` : classes.text}
        title={oneLine ? value : undefined}
      >
        {value}
      </code>
      <CopyButton value={value} what={what} />
    </div>
  );
}
