import { CopyButton } from './CopyButton.tsx';
import classes from './CopyLine.module.css';

interface CopyLineProps {
  value: string;
  /** What is copied, if that is not what is shown. */
  copied?: () => Promise<string | null>;
  /** Name of the text, for screen readers. */
  label: string;
  /** Truncate instead of wrapping. */
  oneLine?: boolean;
}

/** A text to be used elsewhere, such as an address or a command, with its copy button. */
export function CopyLine({ value, copied, label, oneLine = false }: CopyLineProps) {
  return (
    <div className={classes.line}>
      <code
        className={oneLine ? `${classes.text} ${classes.oneLine}` : classes.text}
        title={oneLine ? value : undefined}
      >
        {value}
      </code>
      <CopyButton value={copied ?? value} label={label} />
    </div>
  );
}
