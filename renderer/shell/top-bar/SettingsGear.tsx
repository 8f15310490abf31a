import { ActionIcon } from '@mantine/core';
import { Link, useLocation } from 'wouter';
import { pathOf, screenAt } from '../../../server/contract/places.ts';
import { useMessages } from '../../messages/use-messages.ts';
import { useScreens } from '../../state/rights/use-places.ts';
import { placeIcons } from '../screens/screens.ts';

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
