import { useEffect } from 'react';
import { Redirect, useLocation, useSearch } from 'wouter';
import { destinationOf, type ScreenName } from '../../../server/contract/places.ts';
import { ListSkeleton } from '../../components/feedback/ListSkeleton.tsx';
import { useControlState } from '../../state/control/use-control.ts';
import { useViewer } from '../../state/rights/use-rights.ts';
import { useRemountCount } from '../../state/window/hash-location.ts';
import { loadWhenIdle, useLazyFile } from '../screens/lazy-files.ts';
import { screens } from '../screens/screens.ts';
import { NoPage } from './NoPage.tsx';
import { overlayFiles } from './Overlays.tsx';
import { BrokenScreen, ScreenBoundary } from './ScreenBoundary.tsx';

const lazyFiles = [...Object.values(screens), ...Object.values(overlayFiles)];

/** The screen that the address names, or the word that there is none. The others are preloaded, so that they open at once, even without the engine. */
export function CurrentScreen() {
  const [path] = useLocation();
  const isOpen = useControlState((state) => state.connection === 'open');
  useEffect(() => (isOpen ? loadWhenIdle(lazyFiles) : undefined), [isOpen]);
  const remountCount = useRemountCount();
  const search = useSearch();
  const isPersonKnown = useControlState(({ views }) => views !== null);
  const destination = destinationOf(path, useViewer());
  if (destination.kind === 'moved') {
    const { to } = destination;
    const rest = search && `${to.includes('?') ? '&' : '?'}${search}`;
    return <Redirect to={`${to}${rest}`} replace />;
  }
  if (destination.kind !== 'screen') {
    return isPersonKnown ? <NoPage key={path} destination={destination} /> : <ListSkeleton rows={3} rowHeight={60} />;
  }
  const { screen } = destination;
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
