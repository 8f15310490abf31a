import { type ReactNode, useEffect, useRef } from 'react';
import classes from './Playground.module.css';

/** How far from its end it still counts as being at its end, in pixels. */
const nearEndPx = 32;

/** Shows the newest of what is in it, unless the person has scrolled up to read. */
export function FollowingBox({ children }: { children: ReactNode }) {
  const box = useRef<HTMLDivElement>(null);
  const inner = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  useEffect(() => {
    const outside = box.current;
    if (!outside || !inner.current) return;
    const observer = new ResizeObserver(() => {
      if (follows.current) outside.scrollTop = outside.scrollHeight;
    });
    observer.observe(inner.current);
    return () => observer.disconnect();
  }, []);
  const note = () => {
    const { scrollHeight = 0, scrollTop = 0, clientHeight = 0 } = box.current ?? {};
    follows.current = scrollHeight - scrollTop - clientHeight < nearEndPx;
  };
  return (
    <div className={classes.result} ref={box} onScroll={note} aria-live="polite">
      <div className={classes.resultInner} ref={inner}>
        {children}
      </div>
    </div>
  );
}
