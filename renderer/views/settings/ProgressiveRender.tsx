import { Children, type ReactNode, useEffect, useState } from 'react';

interface ProgressiveRenderProps {
  /** Number of parts rendered from the start: those visible without scrolling. */
  first: number;
  children: ReactNode;
}

/**
 * The parts of a long screen: renders the first at once, then one more in each frame, so that no part blocks the page.
 */
export function ProgressiveRender({ first, children }: ProgressiveRenderProps) {
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
