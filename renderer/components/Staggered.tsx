import { Children, type ReactNode, useEffect, useState } from 'react';

interface StaggeredProps {
  /** How many of them are there from the beginning: what is seen without scrolling. */
  first: number;
  children: ReactNode;
}

/** The parts of a long screen: the first at once, then one more with each frame, so that none of them holds up the page. */
export function Staggered({ first, children }: StaggeredProps) {
  const parts = Children.toArray(children);
  const [shown, setShown] = useState(first);
  const isWhole = shown >= parts.length;
  useEffect(() => {
    if (isWhole) return;
    const frame = requestAnimationFrame(() => setShown(shown + 1));
    return () => cancelAnimationFrame(frame);
  }, [isWhole, shown]);
  return parts.slice(0, shown);
}
