/**
 * The places of the window and the screens in them: their order, letters and addresses, and who may use them. The
 * navigation, the tabs, the palette, the shortcuts and the desktop's menu follow these tables. Pure.
 */
import { isBehindPublicAddress } from './address.ts';
import { nearestName } from './nearest-name.ts';
import type { Person } from './people.ts';
import type { StatusView } from './status-views.ts';

/**
 * `admins`: administrators, or everyone if there is no sign-in. `admins-of-people`: the same, where people sign in.
 * `people`: everyone signed in.
 */
type Audience = 'everyone' | 'admins' | 'admins-of-people' | 'people';

interface ScreenRule {
  /** `/`, or one segment. */
  path: string;
  audience: Audience;
  /** What follows the segment: one that names an `item` of the screen, or the value of a parameter; absent: nothing. */
  rest?: 'item' | { parameter: string };
}

const screenRules = {
  overview: { path: '/', audience: 'admins' },
  account: { path: '/account', audience: 'people' },
  requests: { path: '/requests', audience: 'everyone', rest: 'item' },
  sessions: { path: '/sessions', audience: 'everyone', rest: 'item' },
  playground: { path: '/playground', audience: 'everyone', rest: 'item' },
  providers: { path: '/providers', audience: 'admins', rest: 'item' },
  models: { path: '/models', audience: 'admins', rest: { parameter: 'model' } },
  keys: { path: '/keys', audience: 'everyone', rest: { parameter: 'key' } },
  groups: { path: '/groups', audience: 'admins', rest: 'item' },
  people: { path: '/people', audience: 'admins-of-people', rest: { parameter: 'show' } },
  connect: { path: '/connect', audience: 'everyone', rest: 'item' },
  settings: { path: '/settings', audience: 'admins', rest: { parameter: 'section' } },
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

/**
 * What an address of the window leads to, for who looks at it. `moved`: another address that says the same. `nothing`:
 * there is no such page; `nearest` is one that is spelled like it. `forbidden`: it is for others.
 */
export type Destination =
  | { kind: 'screen'; screen: ScreenName }
  | { kind: 'moved'; to: string }
  | { kind: 'nothing'; nearest: ScreenName | null }
  | { kind: 'forbidden'; screen: ScreenName };

export function destinationOf(path: string, viewer: Viewer): Destination {
  const [first = '', ...rest] = path.split('/').slice(1).filter(isNotLast);
  const named = rest.length === 0 ? null : rest.join('/');
  const plain = `/${[first, ...rest].join('/')}`;
  if (path !== plain) return { kind: 'moved', to: plain };
  const seen = screenNames.filter((name) => maySee(name, viewer));
  const screen = screenAt(`/${first}`);
  if (screen === null) return meantBy(first, named, { viewer, seen });
  // Whoever may not see the overview has another first page.
  if (!maySee(screen, viewer)) {
    const [home] = placesFor(viewer);
    if (screen === 'overview' && home) return { kind: 'moved', to: pathOf(home.screens[0] ?? 'account') };
    return exists(screen, viewer) ? { kind: 'forbidden', screen } : { kind: 'nothing', nearest: null };
  }
  if (named === null) return { kind: 'screen', screen };
  const { rest: role }: ScreenRule = screenRules[screen];
  if (typeof role === 'object') return { kind: 'moved', to: `${pathOf(screen)}?${role.parameter}=${named}` };
  const isItem = role === 'item' && rest.length === 1 && isReadable(named);
  return isItem ? { kind: 'screen', screen } : { kind: 'nothing', nearest: screen };
}

/** A slash at the end adds nothing. */
const isNotLast = (segment: string, index: number, segments: readonly string[]) =>
  segment !== '' || index < segments.length - 1;

/** What is not in the table: the name of a place or screen, another case, or one that is spelled like a screen. */
function meantBy(
  first: string,
  named: string | null,
  { viewer, seen }: { viewer: Viewer; seen: readonly ScreenName[] },
): Destination {
  const word = first.toLowerCase();
  const place = placesFor(viewer).find(({ id }) => id === word);
  const isCalled = (name: ScreenName) => name === word || pathOf(name) === `/${word}`;
  const screen = seen.find(isCalled) ?? (named === null && place?.screens[0]);
  if (screen) return { kind: 'moved', to: named === null ? pathOf(screen) : `${pathOf(screen)}/${named}` };
  const nearest = nearestName(word, seen.map((name) => pathOf(name).slice(1)).filter(Boolean), 2);
  return { kind: 'nothing', nearest: nearest === null ? null : screenAt(`/${nearest}`) };
}

/** There are people and accounts only where people sign in. */
const exists = (screen: ScreenName, { isShared }: Viewer) => isShared || !['people', 'account'].includes(screen);

function isReadable(segment: string): boolean {
  try {
    decodeURIComponent(segment);
    return true;
  } catch {
    return false;
  }
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
