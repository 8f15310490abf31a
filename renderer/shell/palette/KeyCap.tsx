import classes from './KeyCap.module.css';

/** A key, or several pressed at once, as labelled on the keyboard. */
export function KeyCap({ cap }: { cap: string }) {
  return <kbd className={classes.cap}>{cap}</kbd>;
}
