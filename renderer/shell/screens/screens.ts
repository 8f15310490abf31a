/** How the window shows its places and screens: their icons and files. What there is, and for whom, is in the contract. */
import {
  type Icon,
  IconHome,
  IconKey,
  IconListDetails,
  IconMessages,
  IconPlayerPlay,
  IconPlugConnected,
  IconServer2,
  IconSettings,
  IconShieldLock,
  IconUserCircle,
  IconUsers,
  IconUsersGroup,
  IconVectorTriangle,
} from '@tabler/icons-react';
import type { PlaceId, ScreenName } from '../../../server/contract/places.ts';
import type { LazyFile } from './lazy-files.ts';

export const placeIcons: Record<PlaceId, Icon> = {
  home: IconHome,
  traffic: IconListDetails,
  playground: IconPlayerPlay,
  models: IconVectorTriangle,
  access: IconShieldLock,
  connect: IconPlugConnected,
  settings: IconSettings,
};

interface ScreenEntry extends LazyFile {
  Icon: Icon;
}

export const screens: { readonly [Name in ScreenName]: ScreenEntry & { name: Name } } = {
  overview: {
    name: 'overview',
    Icon: IconHome,
    load: async () => (await import('../../views/overview/Overview.tsx')).Overview,
  },
  account: {
    name: 'account',
    Icon: IconUserCircle,
    load: async () => (await import('../../views/account/Account.tsx')).Account,
  },
  requests: {
    name: 'requests',
    Icon: IconListDetails,
    load: async () => (await import('../../views/requests/Requests.tsx')).Requests,
  },
  sessions: {
    name: 'sessions',
    Icon: IconMessages,
    load: async () => (await import('../../views/sessions/Sessions.tsx')).Sessions,
  },
  playground: {
    name: 'playground',
    Icon: IconPlayerPlay,
    load: async () => (await import('../../views/playground/Playground.tsx')).Playground,
  },
  providers: {
    name: 'providers',
    Icon: IconServer2,
    load: async () => (await import('../../views/providers/Providers.tsx')).Providers,
  },
  models: {
    name: 'models',
    Icon: IconVectorTriangle,
    load: async () => (await import('../../views/models/Models.tsx')).Models,
  },
  keys: {
    name: 'keys',
    Icon: IconKey,
    load: async () => (await import('../../views/keys/Keys.tsx')).Keys,
  },
  groups: {
    name: 'groups',
    Icon: IconUsersGroup,
    load: async () => (await import('../../views/groups/Groups.tsx')).Groups,
  },
  people: {
    name: 'people',
    Icon: IconUsers,
    load: async () => (await import('../../views/people/People.tsx')).People,
  },
  connect: {
    name: 'connect',
    Icon: IconPlugConnected,
    load: async () => (await import('../../views/connect/Connect.tsx')).Connect,
  },
  settings: {
    name: 'settings',
    Icon: IconSettings,
    load: async () => (await import('../../views/settings/Settings.tsx')).Settings,
  },
};
