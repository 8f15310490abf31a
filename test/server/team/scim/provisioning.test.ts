/** Whose access ends by what the identity provider pushes, and that it does if it fails at first. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { peopleSchema } from '../../../../server/contract/people.ts';
import type { PeopleStore, StoredPerson } from '../../../../server/store/ports/people-store.ts';
import { openPeopleStore } from '../../../../server/store/sqlite/people-store.ts';
import { Provisioning } from '../../../../server/team/scim/provisioning.ts';
import { roles } from '../people/signed-in.ts';
import { patch } from './scim-client.ts';

const issuer = 'https://id.example';
const settings = peopleSchema.parse({ issuer, clientId: 'c', externalIdClaim: 'oid', roles });
let store: PeopleStore;
let provisioning: Provisioning;
let nowMs: number;
let isRefused: boolean;
const left: string[] = [];
const signedOut: string[] = [];

beforeEach(async () => {
  [nowMs, isRefused] = [1_000, false];
  for (const list of [left, signedOut]) list.length = 0;
  store = openPeopleStore(':memory:');
  provisioning = new Provisioning({
    ...{ store, settings: () => settings, publicOrigin: 'https://gateway.example', nowMs: () => nowMs },
    async leave({ id }) {
      if (isRefused) throw new Error('the configuration cannot be written');
      left.push(id);
    },
    async endAccess(id) {
      const { found } = await store.scim.findUsers({ externalId: `oid-of-${id}` }, { skip: 0, limit: 1 });
      signedOut.push(`${id}, active: ${found[0]?.attributes.active}`);
    },
    log: { error() {} },
  });
  await provisioning.createToken();
  await meet('mia', 'oid-of-mia');
});
afterEach(async () => {
  await provisioning.close();
  await store.close();
});

async function meet(id: string, externalId: string | null, more: Partial<StoredPerson> = {}): Promise<void> {
  const times = { signedInAt: 1, checkedAt: 1, checkDueAt: null };
  await store.keepPerson({
    ...{ id, issuer, subject: id, name: id, email: `${id}@acme.example`, claimed: [] },
    ...{ ...times, externalId, ...more },
  });
}

const mia = { userName: 'mia@acme.example', externalId: 'oid-of-mia' };
const push = async (user: object) => (await provisioning.createUser({ ...mia, ...user }, null)).id;
const set = (path: string, value: unknown) => patch({ op: 'replace', path, value });

test.each<[string, () => Promise<unknown>]>([
  ['a user who is disabled', async () => provisioning.patchUser(await push({}), set('active', 'False'), null)],
  ['a user who is replaced', async () => provisioning.replaceUser(await push({}), { ...mia, active: false }, null)],
  ['a user who was never active', async () => push({ active: false })],
  ['another external id', async () => provisioning.patchUser(await push({}), set('externalId', 'oid-of-mo'), null)],
  ['a user who is deleted', async () => provisioning.removeUser(await push({}), null)],
])('%s: what could not be ended is ended later, once', async (_what, change) => {
  isRefused = true;
  await expect(change()).rejects.toThrow('cannot be written');
  nowMs += 29_000;
  isRefused = false;
  await provisioning.endDue();
  expect(left).toEqual([]);
  isRefused = true;
  nowMs += 1_000;
  await provisioning.endDue();
  isRefused = false;
  nowMs += 30_000;
  await Promise.all([provisioning.endDue(), provisioning.endDue()]);
  expect(left).toEqual(['mia']);
  nowMs += 60_000;
  await provisioning.endDue();
  expect(left).toEqual(['mia']);
});

test('the audit list has what was stored, though it could not be carried out', async () => {
  const user = await push({});
  isRefused = true;
  await expect(provisioning.patchUser(user, set('active', false), null)).rejects.toThrow();
  const { entries } = await store.readAudit({ before: null, limit: 1 });
  expect(entries).toMatchObject([{ action: 'scim.user.disable', target: mia.userName }]);
});

test('what is to be ended of two changes is all ended', async () => {
  await meet('mo', 'oid-of-mo');
  const user = await push({});
  isRefused = true;
  await expect(provisioning.patchUser(user, set('externalId', 'oid-of-mo'), null)).rejects.toThrow();
  isRefused = false;
  await provisioning.patchUser(user, set('active', false), null);
  expect(left).toEqual(['mia', 'mo']);
  nowMs += 60_000;
  await provisioning.endDue();
  expect(left).toEqual(['mia', 'mo']);
});

test('what people have got while SCIM was off who had left ends when it is on again', async () => {
  await meet('mo', 'oid-of-mo');
  await push({ userName: 'mo', externalId: 'oid-of-mo' });
  await push({ active: false });
  await meet('ada', 'oid-of-ada');
  await provisioning.removeUser(await push({ userName: 'ada', externalId: 'oid-of-ada' }), null);
  await provisioning.createToken();
  expect(left).toEqual(['mia', 'ada']);
  await provisioning.endToken();
  isRefused = true;
  await expect(provisioning.createToken()).rejects.toThrow('cannot be written');
  expect((await provisioning.view()).isOn).toBe(false);
  isRefused = false;
  await provisioning.createToken();
  expect(left).toEqual(['mia', 'ada', 'ada', 'mia']);
});

test('nobody leaves again while a user who is not active is changed', async () => {
  const user = await push({ active: false });
  await provisioning.patchUser(user, set('displayName', 'Mia'), null);
  await provisioning.replaceUser(user, { ...mia, active: false }, null);
  expect(left).toEqual(['mia']);
});

test('what was opened while a user was not active ends before they are active again', async () => {
  const user = await push({ active: false });
  await provisioning.patchUser(user, set('active', true), null);
  expect(signedOut).toEqual(['mia, active: false']);
  await provisioning.patchUser(user, set('active', true), null);
  expect(signedOut).toHaveLength(1);
});

test.each<[string, Parameters<typeof meet>, object, string[]]>([
  ['by their user name', ['mo', null], { userName: 'MO@acme.example' }, ['mo']],
  ['by their address for work', ['mo', null], { emails: [{ value: 'mo@ACME.example', type: 'work' }] }, ['mo']],
  ['by their first address', ['mo', null], { emails: [{ value: 'mo@acme.example', primary: true }] }, ['mo']],
  ['not by another address', ['mo', null], { emails: [{ value: 'mo@acme.example', type: 'home' }] }, []],
  ['not if their external id is known', ['mo', 'oid-of-mo'], { userName: 'mo@acme.example' }, []],
  ['not of another issuer', ['mo', null, { issuer: 'https://x.example' }], { userName: 'mo@acme.example' }, []],
  ['not if somebody has the external id', ['mo', null], { ...mia, userName: 'mo@acme.example' }, ['mia']],
])('people are found %s', async (_how, person, user, expected) => {
  await meet(...person);
  await push({ userName: 'x', externalId: 'oid-of-x', ...user, active: false });
  expect(left).toEqual(expected);
});
