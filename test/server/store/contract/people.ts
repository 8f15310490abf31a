import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type {
  Access,
  PeopleStore,
  ScimAttributes,
  ScimGroup,
  ScimUser,
  ScimUserFilter,
  StoredPerson,
} from '../../../../server/store/ports/people-store.ts';

export const mia: StoredPerson = {
  ...{ id: 'prs_1', issuer: 'https://id.example', subject: 'mia', name: 'Mia', email: null, claimed: ['devs', 'a"b'] },
  signedInAt: 1_000.5,
  checkedAt: 1_000.5,
  checkDueAt: null,
  externalId: 'oid-of-mia',
};
export const session: Access = {
  ...{ id: 'ses_1', hash: 'h1', personId: mia.id, scopes: null, name: null, createdAt: 1, expiresAt: 100 },
};
const token: Access = { ...session, id: 'tok_1', hash: 'h2', scopes: ['read', 'keys'], name: 'pipeline', createdAt: 2 };

/** Registers the tests of an implementation; `open` opens an empty store. */
export function peopleContract(open: () => Promise<PeopleStore>): void {
  let store: PeopleStore;
  beforeEach(async () => {
    store = await open();
    await store.keepPerson(mia);
    await store.open(session);
    await store.open(token);
  });
  afterEach(() => store.close());

  test('finds who is let in by the hash of a secret', async () => {
    expect(await store.find('h1')).toEqual({ access: session, person: mia });
    expect(await store.find('h2')).toEqual({ access: token, person: mia });
    expect(await store.find('h3')).toBeNull();
    expect(await store.findByIds(['tok_1', 'tok_9'])).toEqual([{ access: token, person: mia }]);
  });

  test('knows a person as they were at their last sign-in', async () => {
    const later = { ...mia, name: 'Mia M.', claimed: [], signedInAt: 2_000 };
    await store.keepPerson(later);
    expect(await store.listPeople()).toEqual([later]);
    expect((await store.find('h1'))?.person).toEqual(later);
  });

  test('ends one session or token, all of a person, or all browsers', async () => {
    expect(await store.end({ browsers: 'all' })).toBe(1);
    expect([await store.find('h1'), (await store.find('h2'))?.access.id]).toEqual([null, 'tok_1']);
    await store.open(session);
    expect(await store.end({ id: 'tok_1' })).toBe(1);
    expect(await store.end({ id: 'tok_1' })).toBe(0);
    await store.open(token);
    expect(await store.end({ personId: mia.id })).toBe(2);
    expect(await store.find('h1')).toBeNull();
  });

  test('lists tokens, and no sessions', async () => {
    expect(await store.listTokens(mia.id)).toEqual([token]);
    expect(await store.listTokens('prs_2')).toEqual([]);
    expect(await store.listTokens(null)).toEqual([token]);
  });

  test('tells the audit list page by page, latest first', async () => {
    const entry = {
      ...{ at: 5, personId: mia.id, personName: 'Mia', tokenId: null, address: '::1', target: 'k', changes: [] },
    };
    for (const action of ['one', 'two', 'three']) await store.note({ ...entry, action });
    const first = await store.readAudit({ before: null, limit: 2 });
    expect(first.entries).toMatchObject([{ ...entry, action: 'three' }, { action: 'two' }]);
    const second = await store.readAudit({ before: first.next, limit: 2 });
    expect([second.entries.map(({ action }) => action), second.next]).toEqual([['one'], null]);
  });

  test('tells the audit list of one person, or of the administrator of the machine', async () => {
    const entry = { at: 5, personName: null, tokenId: null, address: null, target: null, changes: [] };
    const authors = [mia.id, null, 'prs_2', mia.id, null];
    for (const [index, personId] of authors.entries()) await store.note({ ...entry, personId, action: `${index}` });
    const read = async (personId: string | null, before: number | null = null) => {
      const { entries, next } = await store.readAudit({ before, limit: 1, personId });
      return { actions: entries.map(({ action }) => action), next };
    };
    const latest = await read(mia.id);
    expect(latest.actions).toEqual(['3']);
    expect(await read(mia.id, latest.next)).toMatchObject({ actions: ['0'] });
    expect(await read(null)).toMatchObject({ actions: ['4'] });
    expect(await read('prs_3')).toEqual({ actions: [], next: null });
  });

  test('forgets what has expired, and old entries', async () => {
    const entry = {
      personId: null,
      personName: null,
      tokenId: null,
      address: null,
      action: 'a',
      target: null,
      changes: [],
    };
    await store.note({ ...entry, at: 10 });
    await store.note({ ...entry, at: 20 });
    await store.open({ ...session, id: 'ses_2', hash: 'h4', expiresAt: 101 });
    await store.sweep({ nowMs: 100, auditSinceMs: 20 });
    expect([await store.find('h1'), (await store.find('h4'))?.access.id]).toEqual([null, 'ses_2']);
    expect((await store.readAudit({ before: null, limit: 10 })).entries.map(({ at }) => at)).toEqual([20]);
  });

  test('knows the keys of a person, also those that were revoked and those whose id another one has now', async () => {
    const owner = { personId: mia.id };
    await store.keepKeyOwners([
      { ...owner, keyId: 'a', sinceMs: 1 },
      { ...owner, keyId: 'b', sinceMs: 2 },
    ]);
    await store.keepKeyOwners([]);
    await store.endKeyOwners(['a', 'unknown'], 5);
    await store.endKeyOwners(['a'], 6);
    await store.keepKeyOwners([
      { personId: 'prs_2', keyId: 'a', sinceMs: 7 },
      { ...owner, keyId: 'a', sinceMs: 1 },
    ]);
    const byKey = (one: { keyId: string }, other: { keyId: string }) => one.keyId.localeCompare(other.keyId);
    expect((await store.keysOf(mia.id)).sort(byKey)).toEqual([
      { keyId: 'a', sinceMs: 1, untilMs: 5 },
      { keyId: 'b', sinceMs: 2, untilMs: null },
    ]);
    expect(await store.keysOf('prs_2')).toEqual([{ keyId: 'a', sinceMs: 7, untilMs: null }]);
    await store.sweep({ nowMs: 100, auditSinceMs: 6 });
    expect(await store.keysOf(mia.id)).toEqual([{ keyId: 'b', sinceMs: 2, untilMs: null }]);
  });

  test('gives each person whose check is due to one, and ends the sessions of browsers alone', async () => {
    const people = ['prs_a', 'prs_b', 'prs_c'].map((id, index) => ({ ...mia, id, checkDueAt: 10 * index }));
    for (const person of people) await store.keepPerson(person);
    const due = { nowMs: 15, nextMs: 100, limit: 1 };
    const claimed = await Promise.all([store.claimDue(due), store.claimDue(due), store.claimDue(due)]);
    expect(
      claimed
        .flat()
        .map(({ id }) => id)
        .sort(),
    ).toEqual(['prs_a', 'prs_b']);
    expect(await store.findPerson('prs_a')).toMatchObject({ checkDueAt: 100 });
    expect(await store.findPerson('prs_9')).toBeNull();
    expect(await store.endChecks({ id: 'prs_a', signedInAt: mia.signedInAt + 1 })).toBe(false);
    expect(await store.endChecks({ id: 'prs_b', signedInAt: mia.signedInAt })).toBe(true);
    expect(await Promise.all(['prs_a', 'prs_b'].map(store.findPerson))).toMatchObject([
      { checkDueAt: 100 },
      { checkDueAt: null },
    ]);
    expect(await store.end({ browsersOf: mia.id })).toBe(1);
    expect([await store.find('h1'), (await store.find('h2'))?.access.id]).toEqual([null, 'tok_1']);
  });

  describe('of SCIM', () => {
    const nobody: ScimAttributes = {
      ...{ userName: '', externalId: null, active: true, displayName: null, name: {}, emails: [] },
    };
    const user = (id: string, more: Partial<ScimAttributes> = {}): ScimUser => ({
      id,
      attributes: { ...nobody, userName: `${id}@acme.example`, externalId: `ext-${id}`, ...more },
      version: 1,
      ending: null,
      createdAt: 1,
      modifiedAt: 1,
    });
    const group = (id: string): ScimGroup => ({ id, displayName: id, externalId: null, createdAt: 1, modifiedAt: 1 });
    const all = { skip: 0, limit: 10 };

    test('one token counts, until it is replaced or ended, and another issuer begins anew', async () => {
      const { scim } = store;
      expect([await scim.readToken(), await scim.endToken()]).toEqual([null, false]);
      await scim.replaceToken({ hash: 'a', issuer: 'https://id.example', createdAt: 1 });
      await scim.noteUse(7);
      expect(await scim.readToken()).toEqual({ hash: 'a', issuer: 'https://id.example', createdAt: 1, usedAt: 7 });
      await scim.addUser(user('mia'));
      await scim.replaceToken({ hash: 'b', issuer: 'https://id.example', createdAt: 2 });
      expect([await scim.readToken(), await scim.counts()]).toMatchObject([{ hash: 'b', usedAt: null }, { users: 1 }]);
      expect([await scim.endToken(), await scim.readToken()]).toEqual([true, null]);
      await scim.replaceToken({ hash: 'b', issuer: 'https://id.example/', createdAt: 2 });
      expect(await scim.counts()).toMatchObject({ users: 1 });
      await scim.replaceToken({ hash: 'c', issuer: 'https://other.example', createdAt: 3 });
      expect(await scim.counts()).toEqual({
        ...{ users: 0, active: 0, withoutExternalId: 0, groups: 0, issuer: 'https://other.example' },
      });
      await scim.addUser(user('mo', { externalId: null }));
      await scim.addUser(user('nobody', { externalId: null, active: false }));
      expect(await scim.counts()).toMatchObject({ users: 2, active: 1, withoutExternalId: 1 });
    });

    test('no user has the name or external id of another one, and a change from an old version is none', async () => {
      const { scim } = store;
      const mia = user('mia', {
        emails: [{ value: 'Home@acme.example' }, { value: 'Mia@acme.example', type: 'work' }],
      });
      expect([await scim.addUser(mia), await scim.addUser(user('ada'))]).toEqual([true, true]);
      expect(await scim.addUser({ ...user('x'), attributes: { ...nobody, userName: 'MIA@acme.example' } })).toBe(false);
      expect(await scim.addUser(user('y', { externalId: 'ext-ada' }))).toBe(false);
      const renamed = { ...user('mia', { userName: 'ADA@acme.example' }), version: 2 };
      expect(await scim.replaceUser(renamed)).toBe('taken');
      const disabled = { ...user('mia', { active: false }), version: 2 };
      expect([await scim.replaceUser(disabled), await scim.replaceUser(disabled)]).toEqual(['stored', 'changed']);
      const found = async (filter: ScimUserFilter) => (await scim.findUsers(filter, all)).found.map(({ id }) => id);
      await scim.replaceUser({ ...mia, version: 3 });
      expect(await scim.findUsers({ userName: 'Mia@ACME.example' }, all)).toEqual({
        found: [{ ...mia, version: 3 }],
        total: 1,
      });
      expect([await found({ email: 'mia@acme.EXAMPLE' }), await found({ email: 'home@acme.example' })]).toEqual([
        ['mia'],
        [],
      ]);
      expect([await found({ externalId: 'ext-ada', active: true }), await found({ active: false })]).toEqual([
        ['ada'],
        [],
      ]);
      expect(await scim.findUsers({}, { skip: 1, limit: 1 })).toMatchObject({ found: [{ id: 'mia' }], total: 2 });
    });

    test('of two at the same time, one gets a name', async () => {
      const { scim } = store;
      for (const id of ['mia', 'ada']) {
        await scim.addUser(user(id));
        await scim.addGroup(group(id));
      }
      const renamed = (id: string) => ({ ...user(id, { userName: 'mo' }), version: 2 });
      expect((await Promise.all(['mia', 'ada'].map((id) => scim.replaceUser(renamed(id))))).sort()).toEqual([
        ...['stored', 'taken'],
      ]);
      const named = ['mia', 'ada'].map((id) => scim.replaceGroup({ ...group(id), displayName: 'devs' }));
      expect((await Promise.all(named)).sort()).toEqual(['stored', 'taken']);
    });

    test('what is to be ended of a user is due until it is done, and one gets it', async () => {
      const { scim } = store;
      const leaver = { externalId: 'ext-mia', addresses: ['mia@acme.example'] };
      const ending = { leavers: [leaver], dueAt: 10 };
      const [mia, ada] = [
        { ...user('mia'), version: 2, ending },
        { ...user('ada'), ending },
      ];
      await scim.addUser(user('mia'));
      expect(await scim.claimEndings({ nowMs: 1_000, nextMs: 2_000 })).toEqual([]);
      await scim.replaceUser(mia);
      await scim.addUser(ada);
      const due = { nowMs: 10, nextMs: 20 };
      expect(await scim.claimEndings({ ...due, nowMs: 9 })).toEqual([]);
      const claimed = await Promise.all([scim.claimEndings(due), scim.claimEndings(due)]);
      expect(claimed.flat().sort((one, other) => one.id.localeCompare(other.id))).toEqual(
        [ada, mia].map((each) => ({ ...each, ending: { ...ending, dueAt: 20 } })),
      );
      const more = { ...mia, version: 3, ending: { leavers: [leaver, leaver], dueAt: 15 } };
      await scim.replaceUser(more);
      // Not what has come since.
      await scim.endingDone(mia);
      await scim.endingDone(ada);
      expect(await scim.claimEndings({ nowMs: 20, nextMs: 30 })).toMatchObject([{ id: 'mia', version: 3 }]);
      await scim.endingDone(more);
      expect(await scim.claimEndings({ nowMs: 99, nextMs: 100 })).toEqual([]);
    });

    test('somebody else in the place of a user who was not active is in none of their groups', async () => {
      const { scim } = store;
      await scim.addGroup(group('devs'));
      const memberships = async (before: Partial<ScimAttributes>, after: Partial<ScimAttributes>) => {
        await scim.addUser(user('mia', before));
        await scim.setMembers('devs', ['mia'], true);
        await scim.replaceUser({ ...user('mia', after), version: 2 });
        const groups = await scim.groupsOf('mia');
        await scim.removeUser('mia', 5);
        return groups.length;
      };
      expect(await memberships({ active: false }, { externalId: 'ext-new' })).toBe(0);
      expect(await memberships({ active: false }, {})).toBe(1);
      expect(await memberships({ active: false, externalId: null }, {})).toBe(1);
      expect(await memberships({}, { externalId: 'ext-new' })).toBe(1);
    });

    test('remembers who was no member of a group that was deleted or named otherwise', async () => {
      const { scim } = store;
      for (const id of ['mia', 'mo']) await scim.addUser(user(id));
      await scim.addGroup({ ...group('leads'), externalId: 'id-of-leads' });
      await scim.setMembers('leads', ['mia'], false);
      await scim.setMembers('leads', ['mo'], true);
      const said = async (id: string) =>
        ((await scim.standings([`ext-${id}`])).get(`ext-${id}`)?.groups ?? [])
          .map(({ displayName, externalId, isMember, goneAt }) => [displayName, externalId, isMember, goneAt])
          .sort((one, other) => Number(one[3]) - Number(other[3]));
      await scim.replaceGroup({ ...group('leads'), displayName: 'chiefs', externalId: 'id-of-leads', modifiedAt: 7 });
      const renamed = ['leads', 'id-of-leads', false, 7];
      expect(await said('mia')).toEqual([['chiefs', 'id-of-leads', false, null], renamed]);
      expect(await said('mo')).toEqual([['chiefs', 'id-of-leads', true, null]]);
      await scim.removeGroup('leads', 9);
      expect(await said('mia')).toEqual([renamed, ['chiefs', 'id-of-leads', false, 9]]);
      expect(await said('mo')).toEqual([]);
      await scim.replaceUser({ ...user('mia', { active: false }), version: 2 });
      await scim.replaceUser({ ...user('mia', { externalId: 'ext-new' }), version: 3 });
      expect(await said('new')).toEqual([]);
    });

    test('the external id of a group comes before the name of another one', async () => {
      const { scim } = store;
      await scim.addUser(user('mia'));
      await scim.addGroup({ ...group('g1'), displayName: 'id-of-leads', externalId: 'id-of-mine' });
      await scim.setMembers('g1', ['mia'], true);
      const said = async () => (await scim.standings(['ext-mia'])).get('ext-mia')?.groups;
      expect(await said()).toEqual([
        { displayName: 'id-of-leads', externalId: 'id-of-mine', isMember: true, goneAt: null },
      ]);
      await scim.addGroup({ ...group('g2'), displayName: 'leads', externalId: 'id-of-leads' });
      expect(await said()).toEqual([{ displayName: null, externalId: 'id-of-mine', isMember: true, goneAt: null }]);
      await scim.addGroup({ ...group('g3'), displayName: 'id-of-mine', externalId: 'x' });
      expect(await said()).toEqual([{ displayName: null, externalId: 'id-of-mine', isMember: true, goneAt: null }]);
    });

    test('says who is active and in which groups, and remembers those who are gone', async () => {
      const { scim } = store;
      for (const id of ['mia', 'ada', 'mo']) await scim.addUser(user(id));
      for (const id of ['devs', 'leads']) expect(await scim.addGroup(group(id))).toBe(true);
      expect(await scim.addGroup({ ...group('x'), displayName: 'DEVS' })).toBe(false);
      expect(await scim.replaceGroup({ ...group('leads'), displayName: 'Devs' })).toBe('taken');
      expect((await scim.setMembers('devs', ['mia', 'ada', 'nobody'], true)).sort()).toEqual([
        ...['ada@acme.example', 'mia@acme.example'],
      ]);
      expect(await scim.setMembers('devs', ['mia'], true)).toEqual([]);
      expect(await scim.setMembers('leads', ['mia'], false)).toEqual(['mia@acme.example']);
      expect(await scim.keepMembers('devs', ['mia'])).toEqual(['ada@acme.example']);
      expect(await scim.keepMembers('devs', ['mia'])).toEqual([]);
      expect([await scim.members('devs'), await scim.known(['mo', 'x'])]).toEqual([
        [{ id: 'mia', userName: 'mia@acme.example' }],
        new Set(['mo']),
      ]);
      expect((await scim.findGroups({ member: 'mia' }, all)).found.map(({ id }) => id)).toEqual(['devs']);
      expect((await scim.groupsOf('ada')).length).toBe(0);
      await scim.replaceUser({ ...user('mo', { externalId: 'ext-new' }), version: 2 });
      expect(await scim.removeUser('ada', 5)).toMatchObject({ id: 'ada' });
      expect(await scim.removeUser('ada', 5)).toBeNull();
      const standings = await scim.standings(['ext-mia', 'ext-ada', 'ext-mo', 'ext-new', 'ext-nobody']);
      expect([...standings.keys()].sort()).toEqual(['ext-ada', 'ext-mia', 'ext-mo', 'ext-new']);
      expect(standings.get('ext-mia')).toMatchObject({ isActive: true });
      expect(
        standings
          .get('ext-mia')
          ?.groups.map((said) => [said.displayName, said.isMember])
          .sort(),
      ).toEqual([
        ['devs', true],
        ['leads', false],
      ]);
      expect(['ext-ada', 'ext-mo', 'ext-new'].map((id) => standings.get(id)?.isActive)).toEqual([false, false, true]);
      // Whoever comes back is active again.
      await scim.addUser(user('ada-again', { externalId: 'ext-ada' }));
      expect((await scim.standings(['ext-ada'])).get('ext-ada')?.isActive).toBe(true);
      expect([await scim.removeGroup('devs', 5), await scim.removeGroup('devs', 6)]).toEqual([true, false]);
      expect((await scim.standings([])).size).toBe(0);
    });
  });
}
