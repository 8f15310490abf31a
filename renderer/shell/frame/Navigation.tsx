import { ActionIcon } from '@mantine/core';
import { Link, useLocation } from 'wouter';
import { type Place, pathOf, placeOf, screenAt } from '../../../server/contract/places.ts';
import { useMessages } from '../../messages/use-messages.ts';
import { usePlaces, useScreens } from '../../state/rights/use-rights.ts';
import { goKeyCaps } from '../../state/window/shortcuts.ts';
import { placeIcons } from '../screens/screens.ts';
import classes from './Navigation.module.css';

/** Links to all places: a rail at the side, or a bar at the bottom of a narrow window. Settings is the gear above. */
export function Navigation() {
  const { navigation } = useMessages();
  const [path] = useLocation();
  const screen = screenAt(path);
  const current = screen && placeOf(screen);
  return (
    <nav className={classes.navigation} aria-label={navigation}>
      {usePlaces()
        .filter(({ id }) => id !== 'settings')
        .map((place) => (
          <PlaceLink key={place.id} place={place} isCurrent={place.id === current} />
        ))}
    </nav>
  );
}

function PlaceLink({ place, isCurrent }: { place: Place; isCurrent: boolean }) {
  const { places } = useMessages();
  const { id, screens } = place;
  const Icon = placeIcons[id];
  return (
    <Link
      href={pathOf(screens[0] ?? 'overview')}
      className={classes.link}
      title={`${places[id]} · ${goKeyCaps(place).join(' ')}`}
      aria-current={isCurrent ? 'page' : undefined}
    >
      <Icon className={classes.icon} size={20} stroke={1.7} aria-hidden />
      <span className={classes.name}>{places[id]}</span>
    </Link>
  );
}

/** Leads to Settings from everywhere. Renders nothing for people who may not use them. */
export function SettingsGear() {
  const { places } = useMessages();
  const [path] = useLocation();
  const mayUse = useScreens().includes('settings');
  const Icon = placeIcons.settings;
  if (!mayUse) return null;
  return (
    <ActionIcon
      component={Link}
      href={pathOf('settings')}
      variant="subtle"
      color="gray"
      size="lg"
      aria-label={places.settings}
      title={places.settings}
      aria-current={screenAt(path) === 'settings' ? 'page' : undefined}
    >
      <Icon size={18} aria-hidden />
    </ActionIcon>
  );
}
