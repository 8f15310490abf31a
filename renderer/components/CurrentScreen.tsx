import { useEffect } from 'react';
import { Redirect, useLocation } from 'wouter';
import { useRemountCount } from '../state/hash-location.ts';
import { useControlState } from '../state/use-control.ts';
import { useScreens } from '../state/use-screens.ts';
import { loadWhenIdle } from '../views/lazy-files.ts';
import { overlayFiles } from '../views/overlays.ts';
import { type ScreenEntry, screenAt, screens } from '../views/screens.ts';
import { ListSkeleton } from './ListSkeleton.tsx';
import { BrokenScreen, ScreenBoundary } from './ScreenBoundary.tsx';
import { useLazyFile } from './use-lazy-file.ts';

const lazyFiles = [...screens, ...Object.values(overlayFiles)];

/** The screen that the address names. The others are preloaded, so that they open at once, even without the engine. */
export function CurrentScreen() {
  const [path] = useLocation();
  const isOpen = useControlState((state) => state.connection === 'open');
  useEffect(() => (isOpen ? loadWhenIdle(lazyFiles) : undefined), [isOpen]);
  const remountCount = useRemountCount();
  const accessible = useScreens();
  const isPersonKnown = useControlState(({ views }) => views !== null);
  const screen = screenAt(path, accessible) ?? (isPersonKnown ? null : screenAt(path));
  if (!screen) return <Redirect to={accessible[0]?.path ?? '/'} replace />;
  if (!accessible.includes(screen)) return <ListSkeleton rows={3} rowHeight={60} />;
  return (
    <ScreenBoundary key={`${screen.name} ${remountCount}`}>
      <Loaded screen={screen} />
    </ScreenBoundary>
  );
}

function Loaded({ screen }: { screen: ScreenEntry }) {
  const { Component, problem } = useLazyFile(screen);
  if (Component) return <Component />;
  if (problem !== null) return <BrokenScreen error={problem} isUnloaded />;
  return <ListSkeleton rows={3} rowHeight={60} />;
}
