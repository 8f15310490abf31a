import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Access, PeopleStore, StoredPerson } from '../../../../server/store/ports/people-store.ts';

export const mia: StoredPerson = {
  ...{ id: 'prs_1', issuer: 'https://id.example', subject: 'mia', name: 'Mia', email: null, claimed: ['devs', 'a"b'] },
  signedInAt: 1_000.5,
  checkedAt: 1_000.5,
  checkDueAt: null,
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
    expect(await store.end({ browsersOf: mia.id })).toBe(1);
    expect([await store.find('h1'), (await store.find('h2'))?.access.id]).toEqual([null, 'tok_1']);
  });
}
