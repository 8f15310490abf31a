import classes from './KeyCap.module.css';

/** A key, or several pressed at once, as written on the keyboard. */
export function KeyCap({ cap }: { cap: string }) {
  return <kbd className={classes.cap}>{cap}</kbd>;
}
