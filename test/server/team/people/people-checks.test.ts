/** The identity provider is asked again about people who have signed in, and signs them out by itself. */
import { constants, createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type PeopleSettings, peopleSchema } from '../../../../server/contract/people.ts';
import { minuteMs } from '../../../../server/contract/units.ts';
import { openPeopleStore } from '../../../../server/store/sqlite/people-store.ts';
import { createLogoutCheck } from '../../../../server/team/people/identity-provider.ts';
import { PeopleService, personIdOf } from '../../../../server/team/people/people-service.ts';
import {
  clientId,
  clientSecret,
  startIdentityProvider,
  type TestIdentityProvider,
} from '../../../support/identity-provider.ts';
import { roles } from './signed-in.ts';

const redirectUri = 'http://127.0.0.1:9/control/signed-in';
let identity: TestIdentityProvider;
let service: PeopleService;
let nowMs = 0;
let canKeep = true;
let isAway = false;
let refusesLeavers = false;
let sendsNoIdToken = false;
let settings: PeopleSettings;
const secrets = new Map<string, string>();
const left: string[] = [];
const kept: string[] = [];
const told: string[] = [];

const store = {
  get: async (name: string) => secrets.get(name),
  async set(name: string, value: string) {
    if (!canKeep) throw new Error('there is no passphrase');
    secrets.set(name, value);
  },
  async delete(name: string) {
    secrets.delete(name);
  },
};

beforeEach(async () => {
  identity = await startIdentityProvider(redirectUri, { refreshTokens: true });
  identity.groups.set('mia', ['devs']);
  settings = peopleSchema.parse({ issuer: identity.issuer, clientId, clientSecret: 'env:CLIENT_SECRET', roles });
  [nowMs, canKeep, isAway, refusesLeavers, sendsNoIdToken] = [Date.now(), true, false, false, false];
  for (const list of [left, kept, told]) list.length = 0;
  secrets.clear();
  const note = (_fields: object, message: string) => void told.push(message);
  service = new PeopleService({
    store: openPeopleStore(':memory:'),
    settings: () => settings,
    clientSecret: async () => clientSecret,
    fetch: async (address, options) => {
      if (isAway) throw new Error('connect ECONNREFUSED');
      const response = await fetch(address, options as RequestInit);
      if (!(sendsNoIdToken && address.endsWith('/token'))) return response;
      const { id_token: _, ...others } = (await response.json()) as Record<string, unknown>;
      return Response.json(others);
    },
    refreshTokens: async () => store,
    left: async (id, keys) => {
      if (refusesLeavers) throw new Error('the configuration cannot be written');
      left.push(`${id} ${keys}`);
      return kept;
    },
    nowMs: () => nowMs,
    log: { info: note, warn: note, error: note },
  });
});
afterEach(async () => {
  await service.close();
  await identity.stop();
});

async function signIn(): Promise<{ session: string; token: string }> {
  const { url, pending } = await service.begin(redirectUri);
  const { secret } = await service.finish(new URL(await identity.signIn(url, 'mia')), pending, null);
  const caller = await service.recognize(secret, null);
  if (!caller) throw new Error('She has just signed in.');
  const token = await service.createToken(caller, { name: 'ci', scopes: ['read'], days: 30 });
  return { session: secret, token: token.secret };
}

const works = async (...accesses: string[]) =>
  Promise.all(accesses.map(async (secret) => (await service.recognize(secret, null)) !== null));

async function pass(minutes: number): Promise<void> {
  nowMs += minutes * minuteMs;
  await service.checkPeople();
}

const mia = () => personIdOf(identity.issuer, 'mia');

test('groups are read again every ten minutes, with a token that is new each time', async () => {
  const { session } = await signIn();
  const [first] = [...secrets.values()];
  identity.groups.set('mia', ['leads']);
  await pass(9);
  expect((await service.recognize(session, null))?.person.manages).toEqual([]);
  await pass(1.1);
  expect((await service.recognize(session, null))?.person).toMatchObject({ manages: ['ours'], memberOf: [] });
  identity.groups.set('mia', ['admins']);
  await pass(10);
  expect((await service.recognize(session, null))?.person.isAdmin).toBe(true);
  expect(await service.listPeople()).toMatchObject([{ checkedAt: nowMs, isChecked: true }]);
  expect([...secrets.keys()]).toEqual([`people/refresh/${mia()}`]);
  expect(first).toBeDefined();
  expect(left).toEqual([]);
});

test('groups are read from the user info where no ID token comes with a refresh', async () => {
  const { session } = await signIn();
  sendsNoIdToken = true;
  identity.groups.set('mia', ['leads']);
  await pass(10);
  expect((await service.recognize(session, null))?.person.manages).toEqual(['ours']);
  identity.groups.set('mia', ['others']);
  await pass(10);
  expect([await works(session), left]).toEqual([[false], [`${mia()} revoke`]]);
});

test('whoever is in no group any more has left: sessions and tokens end, and their keys as the settings say', async () => {
  const { session, token } = await signIn();
  identity.groups.set('mia', ['others']);
  await pass(10);
  expect(await works(session, token)).toEqual([false, false]);
  expect(left).toEqual([`${mia()} revoke`]);
  expect((await service.readAudit({ before: null, limit: 1 })).entries).toMatchObject([
    { action: 'left', personName: 'mia of Acme' },
  ]);
  await pass(10);
  expect([left.length, [...secrets]]).toEqual([1, []]);
});

test('keys of leavers that Sluice cannot revoke, since the configuration is a file, are named', async () => {
  kept.push('ci', 'laptop');
  const { session } = await signIn();
  identity.groups.set('mia', []);
  await pass(10);
  expect(await works(session)).toEqual([false]);
  const { entries } = await service.readAudit({ before: null, limit: 1 });
  expect(entries).toMatchObject([{ action: 'left', target: 'ci, laptop' }]);
  expect(told).toEqual([expect.stringContaining('keys go on')]);
  await pass(10);
  expect([left.length, [...secrets]]).toEqual([1, []]);
});

test('what could not be done about somebody who has left is done at the next check', async () => {
  await signIn();
  identity.groups.set('mia', []);
  refusesLeavers = true;
  await pass(10);
  expect(left).toEqual([]);
  refusesLeavers = false;
  await pass(10);
  expect(left).toEqual([`${mia()} revoke`]);
});

describe('a refresh token that has ended', () => {
  test('ends the sessions of browsers', async () => {
    const { session, token } = await signIn();
    secrets.set(`people/refresh/${mia()}`, 'taken-back');
    await pass(10);
    expect(await works(session, token)).toEqual([false, true]);
    expect([left, [...secrets]]).toEqual([[], []]);
    expect(await service.listPeople()).toMatchObject([{ isChecked: false }]);
  });

  test('says that the person has left if it is for offline access, as that of a disabled account', async () => {
    settings = { ...settings, scopes: ['openid', 'profile', 'email', 'offline_access'], keysOfLeavers: 'disable' };
    const { session, token } = await signIn();
    identity.gone.add('mia');
    await pass(10);
    expect(await works(session, token)).toEqual([false, false]);
    expect(left).toEqual([`${mia()} disable`]);
  });
});

test('while the identity provider is away nobody is signed out, which is told after half an hour, once', async () => {
  const { session, token } = await signIn();
  isAway = true;
  for (const minutes of [10, 10, 9]) await pass(minutes);
  await pass(1);
  const isTold = () => told.filter((message) => message.includes('nobody is signed out')).length;
  expect(isTold()).toBe(0);
  for (const minutes of [10, 10, 10]) await pass(minutes);
  expect([isTold(), await works(session, token), left]).toEqual([1, [true, true], []]);
  isAway = false;
  identity.groups.set('mia', ['leads']);
  await pass(10);
  expect((await service.recognize(session, null))?.person.manages).toEqual(['ours']);
});

test('without a place for the token the groups are read at the next sign-in, which is told', async () => {
  canKeep = false;
  const { session } = await signIn();
  identity.groups.set('mia', ['others']);
  await pass(10);
  expect(await works(session)).toEqual([true]);
  expect(told).toEqual([expect.stringContaining('the groups are read at the next sign-in')]);
  expect(await service.listPeople()).toMatchObject([{ isChecked: false }]);
});

describe('back-channel logout', () => {
  test.each([
    ['RS256', generateKeyPairSync('rsa', { modulusLength: 2_048 }), 'sha256', {}],
    [
      'PS256',
      generateKeyPairSync('rsa', { modulusLength: 2_048 }),
      'sha256',
      { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 },
    ],
    ['ES256', generateKeyPairSync('ec', { namedCurve: 'P-256' }), 'sha256', { dsaEncoding: 'ieee-p1363' as const }],
    ['EdDSA', generateKeyPairSync('ed25519'), null, {}],
  ])(
    'takes tokens that are signed by %s, and asks for the keys once',
    async (alg, { privateKey, publicKey }, digest, how) => {
      let asked = 0;
      const check = createLogoutCheck(async () => {
        asked++;
        return { keys: [{ kty: 'oct', kid: 'other' }, publicKey.export({ format: 'jwk' })] };
      });
      const [, claims = ''] = identity.logoutToken('mia').split('.');
      const signed = `${Buffer.from(JSON.stringify({ alg })).toString('base64url')}.${claims}`;
      const by = (key: KeyObject) =>
        `${signed}.${sign(digest, Buffer.from(signed), { key, ...how }).toString('base64url')}`;
      const expected = { issuer: identity.issuer, audience: clientId, nowMs };
      await expect(check(by(privateKey), expected)).resolves.toMatchObject({ subject: 'mia' });
      const flipped = by(privateKey).replace(
        /\.(.)([^.]*)$/,
        (_, first: string, rest: string) => `.${first === 'A' ? 'B' : 'A'}${rest}`,
      );
      await expect(check(flipped, expected)).rejects.toThrow('not signed by the identity provider');
      expect(asked).toBe(1);
    },
  );

  test('obeys a token once', async () => {
    await signIn();
    const token = identity.logoutToken('mia');
    await service.endBySignOut(token);
    const { session } = await signIn();
    await expect(service.endBySignOut(token)).rejects.toThrow('has come before');
    expect(await works(session)).toEqual([true]);
  });

  test('ends the sessions of browsers, and asks no more by a token of the same session', async () => {
    const { session, token } = await signIn();
    await service.endBySignOut(identity.logoutToken('nobody'));
    expect(await works(session)).toEqual([true]);
    await service.endBySignOut(identity.logoutToken('mia'));
    expect(await works(session, token)).toEqual([false, true]);
    expect([...secrets]).toEqual([]);
  });

  test.each([
    ['of another issuer', { iss: 'https://other.example' }, 'another identity provider'],
    ['for another client', { aud: ['other'] }, 'another client'],
    ['that is old', { iat: 1_000, exp: 1_100 }, 'not of now'],
    ['that is an ID token', { events: undefined, nonce: 'n' }, 'events'],
    ['with a nonce', { nonce: 'n' }, 'no nonce'],
    ['without a person', { sub: undefined, sid: 's' }, 'names no person'],
  ])('refuses a token %s', async (_what, more, says) => {
    const { session } = await signIn();
    await expect(service.endBySignOut(identity.logoutToken('mia', more))).rejects.toThrow(says);
    expect(await works(session)).toEqual([true]);
  });

  test.each([
    [
      'changed',
      (token: string) => token.replace(/\.[^.]+\./, `.${Buffer.from('{"sub":"mia"}').toString('base64url')}.`),
    ],
    ['unsigned', (token: string) => `${Buffer.from('{"alg":"none"}').toString('base64url')}.${token.split('.')[1]}.`],
    [
      'signed with the client secret',
      (token: string) => {
        const signed = `${Buffer.from('{"alg":"HS256"}').toString('base64url')}.${token.split('.')[1]}`;
        return `${signed}.${createHmac('sha256', clientSecret).update(signed).digest('base64url')}`;
      },
    ],
    ['no token', () => 'x'],
  ])('refuses one that is %s', async (_what, change) => {
    const { session } = await signIn();
    await expect(service.endBySignOut(change(identity.logoutToken('mia')))).rejects.toThrow();
    expect(await works(session)).toEqual([true]);
  });
});
