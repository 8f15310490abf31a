import { useEffect } from 'react';
import { Redirect, useLocation } from 'wouter';
import { pathOf, type ScreenName, screenAt } from '../../../server/contract/places.ts';
import { ListSkeleton } from '../../components/feedback/ListSkeleton.tsx';
import { useControlState } from '../../state/control/use-control.ts';
import { usePlaces, useScreens } from '../../state/rights/use-rights.ts';
import { useRemountCount } from '../../state/window/hash-location.ts';
import { loadWhenIdle, useLazyFile } from '../screens/lazy-files.ts';
import { screens } from '../screens/screens.ts';
import { overlayFiles } from './Overlays.tsx';
import { BrokenScreen, ScreenBoundary } from './ScreenBoundary.tsx';

const lazyFiles = [...Object.values(screens), ...Object.values(overlayFiles)];

/** The screen that the address names. The others are preloaded, so that they open at once, even without the engine. */
export function CurrentScreen() {
  const [path] = useLocation();
  const isOpen = useControlState((state) => state.connection === 'open');
  useEffect(() => (isOpen ? loadWhenIdle(lazyFiles) : undefined), [isOpen]);
  const remountCount = useRemountCount();
  const accessible = useScreens();
  const [home] = usePlaces();
  const isPersonKnown = useControlState(({ views }) => views !== null);
  const screen = screenAt(path);
  const mayUse = screen !== null && accessible.includes(screen);
  if (screen === null || (!mayUse && isPersonKnown)) {
    return <Redirect to={pathOf(home?.screens[0] ?? 'overview')} replace />;
  }
  if (!mayUse) return <ListSkeleton rows={3} rowHeight={60} />;
  return (
    <ScreenBoundary key={`${screen} ${remountCount}`}>
      <Loaded screen={screen} />
    </ScreenBoundary>
  );
}

function Loaded({ screen }: { screen: ScreenName }) {
  const { Component, problem } = useLazyFile(screens[screen]);
  if (Component) return <Component />;
  if (problem !== null) return <BrokenScreen error={problem} isUnloaded />;
  return <ListSkeleton rows={3} rowHeight={60} />;
}
