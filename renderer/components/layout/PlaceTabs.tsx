import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { pathOf, placeOf, type ScreenName } from '../../../server/contract/places.ts';
import { useMessages } from '../../messages/use-messages.ts';
import { useTabs } from '../../state/rights/use-places.ts';
import classes from './PlaceTabs.module.css';

interface PlaceTabsProps {
  current: ScreenName;
  /** The heading of the current screen, which stands in place of its own tab. */
  children: ReactNode;
}

/** The screens of a place, side by side in the line of the heading. With only one, nothing but the heading. */
export function PlaceTabs({ current, children }: PlaceTabsProps) {
  const { places, screens } = useMessages();
  const tabs = useTabs(current);
  if (tabs.length < 2) return children;
  return (
    <nav className={classes.tabs} aria-label={places[placeOf(current)]}>
      {tabs.map((name) =>
        name === current ? (
          <div key={name} className={classes.current} aria-current="page">
            {children}
          </div>
        ) : (
          <Link key={name} className={classes.tab} href={pathOf(name)}>
            {screens[name]}
          </Link>
        ),
      )}
    </nav>
  );
}
