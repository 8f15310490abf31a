import { type ReactNode, useEffect, useRef } from 'react';
import classes from './Playground.module.css';

/** How far from its end it still counts as being at its end, in pixels. */
const nearEndPx = 32;

interface FollowingBoxProps {
  /** An answer is awaited: what the person has sent shows the newest again. */
  isRunning: boolean;
  children: ReactNode;
}

/** Shows the newest of what is in it, unless the person has scrolled up to read. */
export function FollowingBox({ isRunning, children }: FollowingBoxProps) {
  const box = useRef<HTMLDivElement>(null);
  const inner = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  const lastTopPx = useRef(0);
  useEffect(() => {
    if (!isRunning) return;
    follows.current = true;
    box.current?.scrollTo({ top: box.current.scrollHeight });
  }, [isRunning]);
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
    // The event comes after the scroll: text that was added in between is no sign that the person has left the end.
    if (scrollHeight - scrollTop - clientHeight < nearEndPx) follows.current = true;
    else if (scrollTop < lastTopPx.current) follows.current = false;
    lastTopPx.current = scrollTop;
  };
  return (
    <div className={classes.result} ref={box} onScroll={note} aria-live="polite">
      <div className={classes.resultInner} ref={inner}>
        {children}
      </div>
    </div>
  );
}
