import { Button } from '@mantine/core';
import { Component, type ReactNode, useEffect } from 'react';
import { Redirect, useLocation, useSearch } from 'wouter';
import { destinationOf, type ScreenName } from '../../../server/contract/places.ts';
import { ListSkeleton } from '../../components/feedback/ListSkeleton.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { useControlState } from '../../state/control/use-control.ts';
import { useViewer } from '../../state/rights/use-rights.ts';
import { useRemountCount } from '../../state/window/hash-location.ts';
import { loadWhenIdle, useLazyFile } from '../screens/lazy-files.ts';
import { screens } from '../screens/screens.ts';
import { NoPage } from './NoPage.tsx';
import { overlayFiles } from './Overlays.tsx';
import classes from './ScreenBoundary.module.css';

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
    // The key: wouter redirects when it is mounted, and one address may lead on to another.
    return <Redirect key={path} to={`${to}${rest}`} replace />;
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

/** Confines an error to its screen. */
class ScreenBoundary extends Component<{ children: ReactNode }, { error: unknown }> {
  override state: { error: unknown } = { error: null };

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override render() {
    return this.state.error === null ? this.props.children : <BrokenScreen error={this.state.error} />;
  }
}

interface BrokenScreenProps {
  error: unknown;
  /** The screen's files could not be fetched, so none of its code has run. */
  isUnloaded?: boolean;
}

function BrokenScreen({ error, isUnloaded = false }: BrokenScreenProps) {
  const { screenBroken: names } = useMessages();
  const isLost = useControlState((state) => state.connection === 'lost');
  const text = isUnloaded ? [names.unloaded, names.unloadedLost] : [names.text, names.textLost];
  return (
    <div className={classes.broken} role="alert">
      <h1 className={classes.title}>{isUnloaded ? names.unloadedTitle : names.title}</h1>
      <p>{text[Number(isLost)]}</p>
      {!isLost && (
        <>
          <details className={classes.details}>
            <summary>{names.details}</summary>
            <pre className={classes.error}>{String(error)}</pre>
          </details>
          <Button onClick={() => location.reload()}>{names.reload}</Button>
        </>
      )}
    </div>
  );
}
