import { Button } from '@mantine/core';
import { useEffect, useRef } from 'react';
import { Link } from 'wouter';
import { type Destination, pathOf, type ScreenName } from '../../../server/contract/places.ts';
import { useMessages } from '../../messages/use-messages.ts';
import { usePlaces } from '../../state/rights/use-rights.ts';
import { currentPath, hasNavigated } from '../../state/window/hash-location.ts';
import { overlay } from '../../state/window/overlay.ts';
import classes from './ScreenBoundary.module.css';

interface NoPageProps {
  destination: Extract<Destination, { kind: 'nothing' | 'forbidden' }>;
}

/** In place of a screen, at an address that leads to none: says so, with a way on. */
export function NoPage({ destination }: NoPageProps) {
  const { noPage: names, screens, appName } = useMessages();
  const [place] = usePlaces();
  const home = place?.screens[0] ?? 'overview';
  const isForbidden = destination.kind === 'forbidden';
  const title = isForbidden ? names.forbidden(screens[destination.screen]) : names.title;
  const ways: ScreenName[] = !isForbidden && destination.nearest ? [destination.nearest, home] : [home];
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} – ${appName}`;
    if (hasNavigated() && heading.current) overlay.focusBelow(heading.current);
  }, [title, appName]);
  return (
    <div className={classes.broken}>
      <h1 className={classes.title} ref={heading} tabIndex={-1}>
        {title}
      </h1>
      <p className={classes.text}>{isForbidden ? names.forbiddenText : names.text(decoded(currentPath()))}</p>
      <div className={classes.ways}>
        {[...new Set(ways)].map((screen, index) => (
          <Button key={screen} component={Link} href={pathOf(screen)} variant={index === 0 ? 'filled' : 'default'}>
            {names.open(screens[screen])}
          </Button>
        ))}
      </div>
    </div>
  );
}

/** As it was probably written; what cannot be decoded stays. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
