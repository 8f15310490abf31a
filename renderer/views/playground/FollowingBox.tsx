import { type ReactNode, useEffect, useRef } from 'react';
import classes from './Playground.module.css';

/** The distance from the end, in pixels, up to which the box still follows new content. */
const nearEndPx = 32;

interface FollowingBoxProps {
  /** An answer is expected. When this becomes true, the box scrolls to the end again. */
  isRunning: boolean;
  children: ReactNode;
}

/** Scrolls to new content, unless the person has scrolled up to read. */
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
    // The event is fired after scrolling, so text added in between does not mean that the person has left the end.
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
