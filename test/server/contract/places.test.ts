import { describe, expect, it } from 'vitest';
import type { Person } from '../../../server/contract/people.ts';
import {
  destinationOf,
  isListed,
  maySee,
  pathOf,
  placeOf,
  places,
  placesFor,
  type ScreenName,
  screenAt,
  screenNames,
  type Viewer,
  viewerOf,
} from '../../../server/contract/places.ts';

const person = (rights: Partial<Person>): Person => ({
  ...{ id: 'prs_000000000000000000000000', name: 'Mia', email: null, isAdmin: false, manages: [], memberOf: [] },
  ...rights,
});

const roles: Record<string, Viewer> = {
  'the person at the machine': { person: null, isShared: false },
  'the administrator of a machine that a team shares': { person: null, isShared: true },
  'an administrator who signed in': { person: person({ isAdmin: true }), isShared: true },
  'a manager': { person: person({ manages: ['ours'] }), isShared: true },
  'a member': { person: person({ memberOf: ['ours'] }), isShared: true },
};

describe('the places of the window', () => {
  it('are six, with Settings beside them, and hold each screen once', () => {
    expect(places.map(({ id }) => id)).toEqual([
      ...['home', 'traffic', 'playground', 'models', 'access', 'connect'],
      'settings',
    ]);
    expect(places.flatMap(({ screens }) => screens).toSorted()).toEqual(screenNames.toSorted());
    expect(new Set(places.map(({ letter }) => letter)).size).toBe(places.length);
    expect(new Set(screenNames.map(pathOf)).size).toBe(screenNames.length);
    for (const name of screenNames) expect(placeOf(name)).toBe(places.find((place) => isIn(name, place.screens))?.id);
  });

  const ofAdmins = {
    home: ['overview'],
    traffic: ['requests', 'sessions'],
    playground: ['playground'],
    models: ['providers', 'models'],
    access: ['keys', 'groups', 'people'],
    connect: ['connect'],
    settings: ['settings'],
  };
  const { models: _models, settings: _settings, ...ofEveryone } = ofAdmins;
  const expected: Record<string, Record<string, string[]>> = {
    'the person at the machine': { ...ofAdmins, access: ['keys', 'groups'] },
    'the administrator of a machine that a team shares': ofAdmins,
    'an administrator who signed in': { ...ofAdmins, home: ['overview', 'account'] },
    'a manager': { ...ofEveryone, home: ['account'], access: ['keys'] },
    'a member': { ...ofEveryone, home: ['account'], access: ['keys'] },
  };
  it.each(Object.entries(roles))('of %s', (role, viewer) => {
    const found = placesFor(viewer);
    expect(Object.fromEntries(found.map(({ id, screens }) => [id, screens]))).toEqual(expected[role]);
    const listed = found.flatMap(({ screens }) => screens);
    expect(screenNames.filter((name) => maySee(name, viewer)).toSorted()).toEqual(listed.toSorted());
  });

  it('are shared where people sign in, and where the public address is another than that of the machine', () => {
    const listensAt = 'http://127.0.0.1:4810';
    const address = (baseUrl: string) => ({ person: null, listensAt, baseUrl: `${baseUrl}/v1` });
    expect(viewerOf(undefined)).toEqual({ person: null, isShared: false });
    expect(viewerOf(address(listensAt)).isShared).toBe(false);
    expect(viewerOf(address('http://127.0.0.1:48101')).isShared).toBe(true);
    expect(viewerOf(address('https://gateway.example')).isShared).toBe(true);
    expect(viewerOf({ ...address(listensAt), person: person({}) }).isShared).toBe(true);
  });

  it('list groups once there is a second one or others make keys too, and everything else always', () => {
    const unlisted = (groupCount: number, isShared: boolean) =>
      screenNames.filter((name) => !isListed(name, { person: null, isShared }, groupCount));
    expect(unlisted(1, false)).toEqual(['groups']);
    expect(unlisted(2, false)).toEqual([]);
    expect(unlisted(1, true)).toEqual([]);
  });

  it.each([
    ['/', 'overview'],
    ['', 'overview'],
    ['/?range=week', 'overview'],
    ['/requests/req_1?tab=response', 'requests'],
    ['/settings?section=prices#anything', 'settings'],
    ['keys?key=a%2Fb', 'keys'],
    ['/request', null],
    ['/nothing/requests', null],
  ])('%s leads to %s', (address, screen) => {
    expect(screenAt(address)).toBe(screen);
  });

  const moved = (to: string) => ({ kind: 'moved', to });
  const nothing = (nearest: ScreenName | null) => ({ kind: 'nothing', nearest });
  it.each([
    ['/', 'the person at the machine', { kind: 'screen', screen: 'overview' }],
    ['/', 'a member', moved('/account')],
    ['/connect/codex', 'a member', { kind: 'screen', screen: 'connect' }],
    ['/connect/', 'a member', moved('/connect')],
    ['/settings/prices', 'the person at the machine', moved('/settings?section=prices')],
    ['/settings/prices', 'a member', { kind: 'forbidden', screen: 'settings' }],
    ['/keys/k1', 'a member', moved('/keys?key=k1')],
    ['/models/openai/gpt-5', 'a manager', { kind: 'forbidden', screen: 'models' }],
    ['/models/openai/gpt-5', 'an administrator who signed in', moved('/models?model=openai/gpt-5')],
    ['/Keys/k1', 'a member', moved('/keys/k1')],
    ['/traffic', 'a member', moved('/requests')],
    ['/home', 'a member', moved('/account')],
    ['/traffic/x', 'a member', nothing(null)],
    ['/setings', 'the person at the machine', nothing('settings')],
    ['/setings', 'a member', nothing(null)],
    ['/people', 'the person at the machine', nothing(null)],
    ['/people', 'a member', { kind: 'forbidden', screen: 'people' }],
    ['/account/tokens', 'a member', nothing('account')],
    ['/groups/a/b', 'the person at the machine', nothing('groups')],
    ['/requests/%', 'a member', nothing('requests')],
  ])('%s is for %s what it says', (path, role, expected) => {
    expect(destinationOf(path, roles[role] ?? expect.fail(role))).toEqual(expected);
  });
});

function isIn(name: ScreenName, screens: readonly ScreenName[]): boolean {
  return screens.includes(name);
}
