/** The screens of the window: their addresses, icons and files. */
import {
  type Icon,
  IconKey,
  IconLayoutDashboard,
  IconListDetails,
  IconMessages,
  IconPlayerPlay,
  IconPlugConnected,
  IconServer2,
  IconSettings,
  IconUserCircle,
  IconUsers,
  IconUsersGroup,
  IconVectorTriangle,
} from '@tabler/icons-react';
import type { ScreenName } from '../../components/layout/Screen.tsx';
import type { LazyFile } from './lazy-files.ts';

export interface ScreenEntry extends LazyFile {
  name: ScreenName;
  /** `/`, or one segment. The screen itself handles the rest of the address. */
  path: string;
  Icon: Icon;
  /**
   * The parent screen, which the navigation highlights for this one. The navigation lists this screen itself only for
   * people who may not use the parent.
   */
  within?: ScreenName;
  /**
   * Who may use it. `admins`: administrators, or everyone if there is no sign-in. `people`: everyone signed in.
   * `admins-of-people`: administrators who are signed in. Everyone if absent.
   */
  audience?: 'admins' | 'people' | 'admins-of-people';
}

/** In the order of the navigation and of the palette. */
export const screens: readonly ScreenEntry[] = [
  {
    name: 'overview',
    audience: 'admins',
    path: '/',
    Icon: IconLayoutDashboard,
    load: async () => (await import('../../views/overview/Overview.tsx')).Overview,
  },
  {
    name: 'providers',
    audience: 'admins',
    path: '/providers',
    Icon: IconServer2,
    load: async () => (await import('../../views/providers/Providers.tsx')).Providers,
  },
  {
    name: 'models',
    audience: 'admins',
    path: '/models',
    Icon: IconVectorTriangle,
    load: async () => (await import('../../views/models/Models.tsx')).Models,
  },
  {
    name: 'groups',
    audience: 'admins',
    path: '/groups',
    Icon: IconUsersGroup,
    load: async () => (await import('../../views/groups/Groups.tsx')).Groups,
  },
  {
    name: 'keys',
    path: '/keys',
    Icon: IconKey,
    load: async () => (await import('../../views/keys/Keys.tsx')).Keys,
  },
  {
    name: 'requests',
    path: '/requests',
    Icon: IconListDetails,
    load: async () => (await import('../../views/requests/Requests.tsx')).Requests,
  },
  {
    name: 'sessions',
    path: '/sessions',
    Icon: IconMessages,
    within: 'requests',
    load: async () => (await import('../../views/sessions/Sessions.tsx')).Sessions,
  },
  {
    name: 'playground',
    path: '/playground',
    Icon: IconPlayerPlay,
    load: async () => (await import('../../views/playground/Playground.tsx')).Playground,
  },
  {
    name: 'connect',
    audience: 'admins',
    path: '/connect',
    Icon: IconPlugConnected,
    load: async () => (await import('../../views/connect/Connect.tsx')).Connect,
  },
  {
    name: 'people',
    audience: 'admins-of-people',
    path: '/people',
    Icon: IconUsers,
    load: async () => (await import('../../views/people/People.tsx')).People,
  },
  {
    name: 'account',
    audience: 'people',
    path: '/account',
    Icon: IconUserCircle,
    within: 'people',
    load: async () => (await import('../../views/account/Account.tsx')).Account,
  },
  {
    name: 'settings',
    audience: 'admins',
    path: '/settings',
    Icon: IconSettings,
    load: async () => (await import('../../views/settings/Settings.tsx')).Settings,
  },
];

/** Null if there is no such screen. */
export function screenAt(path: string, among: readonly ScreenEntry[] = screens): ScreenEntry | null {
  const start = `/${path.split('/')[1] ?? ''}`;
  return among.find((screen) => screen.path === start) ?? null;
}
