import { useEffect } from 'react';
import { Redirect, useLocation } from 'wouter';
import { ListSkeleton } from '../../components/feedback/ListSkeleton.tsx';
import { useControlState } from '../../state/control/use-control.ts';
import { useRemountCount } from '../../state/window/hash-location.ts';
import { loadWhenIdle } from '../screens/lazy-files.ts';
import { type ScreenEntry, screenAt, screens } from '../screens/screens.ts';
import { useScreens } from '../screens/use-screens.ts';
import { overlayFiles } from './overlays.ts';
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
