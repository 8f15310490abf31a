import { useEffect, useState } from 'react';
import { Redirect, useLocation } from 'wouter';
import { useControlState } from '../state/use-control.ts';
import { loadedScreen, loadScreen, loadWhenIdle } from '../views/screen-files.ts';
import { type ScreenEntry, screenAt, screens } from '../views/screens.ts';
import { ListSkeleton } from './ListSkeleton.tsx';
import { BrokenScreen, ScreenBoundary } from './ScreenBoundary.tsx';

/** The screen that the address names. The others are loaded meanwhile, so that they open at once, also without the engine. */
export function CurrentScreen() {
  const [path] = useLocation();
  const isOpen = useControlState((state) => state.connection === 'open');
  useEffect(() => (isOpen ? loadWhenIdle(screens) : undefined), [isOpen]);
  const screen = screenAt(path);
  if (!screen) return <Redirect to="/" replace />;
  return (
    <ScreenBoundary key={screen.name}>
      <Loaded screen={screen} isOpen={isOpen} />
    </ScreenBoundary>
  );
}

/** Not by `Suspense`, which holds back what comes after its fallback for 300 ms. */
function Loaded({ screen, isOpen }: { screen: ScreenEntry; isOpen: boolean }) {
  const [, setRound] = useState(0);
  const [problem, setProblem] = useState<unknown>(null);
  const Component = loadedScreen(screen);
  const isMissing = Component === null;
  useEffect(() => {
    if (!isMissing) return;
    let isCurrent = true;
    // The engine is back: what failed while it was gone is tried again.
    if (isOpen) setProblem(null);
    const draw = (failed: unknown) => {
      if (!isCurrent) return;
      setProblem(failed);
      setRound((round) => round + 1);
    };
    loadScreen(screen).then(() => draw(null), draw);
    return () => {
      isCurrent = false;
    };
  }, [screen, isMissing, isOpen]);
  if (Component) return <Component />;
  if (problem !== null) return <BrokenScreen error={problem} isUnloaded />;
  return <ListSkeleton rows={3} rowHeight={60} />;
}
