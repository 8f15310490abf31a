/**
 * The places of the window and the screens in them: their order, letters and addresses, and who may use them. The
 * navigation, the tabs, the palette, the shortcuts and the desktop's menu follow these tables. Pure.
 */
import { isBehindPublicAddress } from './address.ts';
import type { Person } from './people.ts';
import type { StatusView } from './status-views.ts';

/**
 * `admins`: administrators, or everyone if there is no sign-in. `admins-of-people`: the same, where people sign in.
 * `people`: everyone signed in.
 */
type Audience = 'everyone' | 'admins' | 'admins-of-people' | 'people';

interface ScreenRule {
  /** `/`, or one segment. The screen itself handles the rest of the address. */
  path: string;
  audience: Audience;
}

const screenRules = {
  overview: { path: '/', audience: 'admins' },
  account: { path: '/account', audience: 'people' },
  requests: { path: '/requests', audience: 'everyone' },
  sessions: { path: '/sessions', audience: 'everyone' },
  playground: { path: '/playground', audience: 'everyone' },
  providers: { path: '/providers', audience: 'admins' },
  models: { path: '/models', audience: 'admins' },
  keys: { path: '/keys', audience: 'everyone' },
  groups: { path: '/groups', audience: 'admins' },
  people: { path: '/people', audience: 'admins-of-people' },
  connect: { path: '/connect', audience: 'everyone' },
  settings: { path: '/settings', audience: 'admins' },
} as const satisfies Record<string, ScreenRule>;

export type ScreenName = keyof typeof screenRules;

export const screenNames = Object.keys(screenRules).filter((name): name is ScreenName => name in screenRules);

/**
 * In the order of the navigation and of the desktop's ⌘1 to ⌘6; Settings is the gear beside them. `letter`: pressed
 * after G, it opens the place.
 */
export const places = [
  { id: 'home', letter: 'h', screens: ['overview', 'account'] },
  { id: 'traffic', letter: 't', screens: ['requests', 'sessions'] },
  { id: 'playground', letter: 'p', screens: ['playground'] },
  { id: 'models', letter: 'm', screens: ['providers', 'models'] },
  { id: 'access', letter: 'a', screens: ['keys', 'groups', 'people'] },
  { id: 'connect', letter: 'c', screens: ['connect'] },
  { id: 'settings', letter: 's', screens: ['settings'] },
] as const satisfies readonly { id: string; letter: string; screens: readonly ScreenName[] }[];

export type PlaceId = (typeof places)[number]['id'];

export interface Place {
  id: PlaceId;
  letter: string;
  /** At least one; the first is shown by a link to the place. */
  screens: readonly ScreenName[];
}

export const pathOf = (screen: ScreenName): string => screenRules[screen].path;

/** The screen that an address of the window leads to, whatever follows its first segment; null if there is none. */
export function screenAt(address: string): ScreenName | null {
  const [segment = ''] = address.replace(/^\//, '').split(/[/?#]/);
  return screenNames.find((name) => pathOf(name) === `/${segment}`) ?? null;
}

export function placeOf(screen: ScreenName): PlaceId {
  const place: Place | undefined = places.find(({ screens }) => screens.some((name) => name === screen));
  if (!place) throw new Error(`${screen} is in no place`);
  return place.id;
}

/** Who looks at the window. */
export interface Viewer {
  /** Null for the administrator of the machine. */
  person: Person | null;
  /** Sluice is reached at a public address, where people sign in: `serve --public-url`. */
  isShared: boolean;
}

export function viewerOf(status: Pick<StatusView, 'person' | 'baseUrl' | 'listensAt'> | undefined): Viewer {
  const person = status?.person ?? null;
  return { person, isShared: person !== null || (status !== undefined && isBehindPublicAddress(status)) };
}

export function maySee(screen: ScreenName, { person, isShared }: Viewer): boolean {
  const audience: Audience = screenRules[screen].audience;
  const isAdmin = person?.isAdmin ?? true;
  switch (audience) {
    case 'everyone':
      return true;
    case 'admins':
      return isAdmin;
    case 'admins-of-people':
      return isAdmin && isShared;
    case 'people':
      return person !== null;
  }
}

/** The places with what someone may use in them, without the places that have nothing for them. */
export function placesFor(viewer: Viewer): Place[] {
  return places
    .map((place) => ({ ...place, screens: place.screens.filter((name) => maySee(name, viewer)) }))
    .filter(({ screens }) => screens.length > 0);
}

/**
 * Whether a screen is listed among the tabs of its place. A single group needs no list, unless others make keys too; its
 * address works all the same.
 */
export function isListed(screen: ScreenName, { isShared }: Viewer, groupCount: number): boolean {
  return screen !== 'groups' || isShared || groupCount > 1;
}

/** The names of the places, in the window and in the desktop's menu. */
export const placeTexts: Readonly<Record<PlaceId, string>> = {
  home: 'Home',
  traffic: 'Traffic',
  playground: 'Playground',
  models: 'Models',
  access: 'Access',
  connect: 'Connect',
  settings: 'Settings',
};

export const placeTextsZh: Readonly<Record<PlaceId, string>> = {
  home: '首页',
  traffic: '流量',
  playground: '演练场',
  models: '模型',
  access: '访问控制',
  connect: '接入',
  settings: '设置',
};
