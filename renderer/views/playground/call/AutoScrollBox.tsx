import { type ReactNode, useEffect, useRef } from 'react';
import classes from '../Playground.module.css';

/** The distance from the end, in pixels, up to which the box still follows new content. */
const nearEndPx = 32;

interface AutoScrollBoxProps {
  /** An answer is expected. When this becomes true, the box scrolls to the end again. */
  isRunning: boolean;
  children: ReactNode;
}

/** Scrolls to new content, unless the person has scrolled up to read. */
export function AutoScrollBox({ isRunning, children }: AutoScrollBoxProps) {
  const box = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const lastTopPx = useRef(0);
  useEffect(() => {
    if (!isRunning) return;
    isAtEnd.current = true;
    box.current?.scrollTo({ top: box.current.scrollHeight });
  }, [isRunning]);
  useEffect(() => {
    const container = box.current;
    if (!container || !content.current) return;
    const observer = new ResizeObserver(() => {
      if (isAtEnd.current) container.scrollTop = container.scrollHeight;
    });
    observer.observe(content.current);
    return () => observer.disconnect();
  }, []);
  const updatePosition = () => {
    const { scrollHeight = 0, scrollTop = 0, clientHeight = 0 } = box.current ?? {};
    // The event is fired after scrolling, so text added in between does not mean that the person has left the end.
    if (scrollHeight - scrollTop - clientHeight < nearEndPx) isAtEnd.current = true;
    else if (scrollTop < lastTopPx.current) isAtEnd.current = false;
    lastTopPx.current = scrollTop;
  };
  return (
    <div className={classes.result} ref={box} onScroll={updatePosition} aria-live="polite">
      <div className={classes.resultInner} ref={content}>
        {children}
      </div>
    </div>
  );
}
