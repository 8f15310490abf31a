import { useMessages } from '../../messages/use-messages.ts';
import classes from './SkipButton.module.css';

/**
 * The first tab stop: skips the bars and moves to the content of the screen. Visible while focused. Not a link, because
 * the part of the address after `#` names the screen.
 */
export function SkipButton() {
  const { skipToContent } = useMessages();
  return (
    <button type="button" className={classes.skip} onClick={() => document.querySelector('main')?.focus()}>
      {skipToContent}
    </button>
  );
}
