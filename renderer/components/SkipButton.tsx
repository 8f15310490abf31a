import { useMessages } from '../messages/use-messages.ts';
import classes from './SkipButton.module.css';

/**
 * The first tab stop: past the bars, to what the screen shows. Seen while it has the focus. No link, since the part of the
 * address after `#` names the screen.
 */
export function SkipButton() {
  const { skipToContent } = useMessages();
  return (
    <button type="button" className={classes.skip} onClick={() => document.querySelector('main')?.focus()}>
      {skipToContent}
    </button>
  );
}
