/** The screens of the window: where each is, what it is called, and the file that is loaded when it is opened first. */
import {
  type Icon,
  IconKey,
  IconLayoutDashboard,
  IconListDetails,
  IconPlayerPlay,
  IconPlugConnected,
  IconServer2,
  IconSettings,
  IconUsersGroup,
  IconVectorTriangle,
} from '@tabler/icons-react';
import { type ComponentType, type LazyExoticComponent, lazy } from 'react';
import type { ScreenName } from '../components/Screen.tsx';

interface ScreenEntry {
  name: ScreenName;
  /** `/`, or one segment; what comes after it is the screen's own. */
  path: string;
  Icon: Icon;
  Component: LazyExoticComponent<ComponentType>;
}

/** In the order of the navigation. */
export const screens: readonly ScreenEntry[] = [
  {
    name: 'overview',
    path: '/',
    Icon: IconLayoutDashboard,
    Component: lazy(async () => ({ default: (await import('./overview/Overview.tsx')).Overview })),
  },
  {
    name: 'providers',
    path: '/providers',
    Icon: IconServer2,
    Component: lazy(async () => ({ default: (await import('./providers/Providers.tsx')).Providers })),
  },
  {
    name: 'models',
    path: '/models',
    Icon: IconVectorTriangle,
    Component: lazy(async () => ({ default: (await import('./models/Models.tsx')).Models })),
  },
  {
    name: 'groups',
    path: '/groups',
    Icon: IconUsersGroup,
    Component: lazy(async () => ({ default: (await import('./groups/Groups.tsx')).Groups })),
  },
  {
    name: 'keys',
    path: '/keys',
    Icon: IconKey,
    Component: lazy(async () => ({ default: (await import('./keys/Keys.tsx')).Keys })),
  },
  {
    name: 'requests',
    path: '/requests',
    Icon: IconListDetails,
    Component: lazy(async () => ({ default: (await import('./requests/Requests.tsx')).Requests })),
  },
  {
    name: 'playground',
    path: '/playground',
    Icon: IconPlayerPlay,
    Component: lazy(async () => ({ default: (await import('./playground/Playground.tsx')).Playground })),
  },
  {
    name: 'connect',
    path: '/connect',
    Icon: IconPlugConnected,
    Component: lazy(async () => ({ default: (await import('./connect/Connect.tsx')).Connect })),
  },
  {
    name: 'settings',
    path: '/settings',
    Icon: IconSettings,
    Component: lazy(async () => ({ default: (await import('./settings/Settings.tsx')).Settings })),
  },
];

/** Null: there is no such screen. */
export function screenAt(path: string): ScreenEntry | null {
  const start = `/${path.split('/')[1] ?? ''}`;
  return screens.find((screen) => screen.path === start) ?? null;
}
