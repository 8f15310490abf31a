/** The screens of the window: where each is, what it is called, and the file that holds it. */
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
  IconUsersGroup,
  IconVectorTriangle,
} from '@tabler/icons-react';
import type { ScreenName } from '../components/Screen.tsx';
import type { LazyFile } from './lazy-files.ts';

export interface ScreenEntry extends LazyFile {
  name: ScreenName;
  /** `/`, or one segment; what comes after it is the screen's own. */
  path: string;
  Icon: Icon;
  /** The screen it is reached from, under which the navigation counts it; it has no place of its own there. */
  within?: ScreenName;
  /** Of what people who are no administrators neither see nor change. */
  isForAdmins?: true;
}

/** In the order of the navigation and of the palette. */
export const screens: readonly ScreenEntry[] = [
  {
    name: 'overview',
    isForAdmins: true,
    path: '/',
    Icon: IconLayoutDashboard,
    load: async () => (await import('./overview/Overview.tsx')).Overview,
  },
  {
    name: 'providers',
    isForAdmins: true,
    path: '/providers',
    Icon: IconServer2,
    load: async () => (await import('./providers/Providers.tsx')).Providers,
  },
  {
    name: 'models',
    isForAdmins: true,
    path: '/models',
    Icon: IconVectorTriangle,
    load: async () => (await import('./models/Models.tsx')).Models,
  },
  {
    name: 'groups',
    isForAdmins: true,
    path: '/groups',
    Icon: IconUsersGroup,
    load: async () => (await import('./groups/Groups.tsx')).Groups,
  },
  {
    name: 'keys',
    path: '/keys',
    Icon: IconKey,
    load: async () => (await import('./keys/Keys.tsx')).Keys,
  },
  {
    name: 'requests',
    path: '/requests',
    Icon: IconListDetails,
    load: async () => (await import('./requests/Requests.tsx')).Requests,
  },
  {
    name: 'sessions',
    path: '/sessions',
    Icon: IconMessages,
    within: 'requests',
    load: async () => (await import('./sessions/Sessions.tsx')).Sessions,
  },
  {
    name: 'playground',
    path: '/playground',
    Icon: IconPlayerPlay,
    load: async () => (await import('./playground/Playground.tsx')).Playground,
  },
  {
    name: 'connect',
    isForAdmins: true,
    path: '/connect',
    Icon: IconPlugConnected,
    load: async () => (await import('./connect/Connect.tsx')).Connect,
  },
  {
    name: 'settings',
    isForAdmins: true,
    path: '/settings',
    Icon: IconSettings,
    load: async () => (await import('./settings/Settings.tsx')).Settings,
  },
];

/** Null: there is no such screen. */
export function screenAt(path: string, among: readonly ScreenEntry[] = screens): ScreenEntry | null {
  const start = `/${path.split('/')[1] ?? ''}`;
  return among.find((screen) => screen.path === start) ?? null;
}
