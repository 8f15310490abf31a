/** A configuration with very many keys: what is stored for a change, and how other replicas follow it. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ConfigInput } from '../../../../server/contract/config.ts';
import { eventually } from '../../../support/eventually.ts';
import { hashOf } from '../../../support/gateway.ts';
import { hasPostgres, startPostgresInSuite } from '../../../support/postgres.ts';
import { type ConfigConnecting, openReplicaConfig } from '../../../support/postgres-store.ts';

const keyCount = 2_000;
const keyOf = (id: string) => ({ id, group: 'team', hash: hashOf(id) });

describe.runIf(hasPostgres())('a configuration of very many keys', () => {
  const server = startPostgresInSuite();
  let url: string;
  let closing: (() => Promise<void>)[];
  beforeEach(async () => {
    closing = [];
    url = await server.createDatabase();
  });
  afterEach(async () => {
    for (const close of closing.reverse()) await close();
  });

  const openReplica = (connecting?: ConfigConnecting) => openReplicaConfig(url, closing, connecting);

  const initial: ConfigInput = {
    version: 1,
    groups: [{ id: 'team' }],
    keys: Array.from({ length: keyCount }, (_, index) => keyOf(`k${index}`)),
  };
  const withKey = (id: string) => (current: ConfigInput) => ({
    ...current,
    keys: [...(current.keys ?? []), keyOf(id)],
  });
  const withoutKey = (id: string) => (current: ConfigInput) => ({
    ...current,
    keys: (current.keys ?? []).filter((key) => key.id !== id),
  });

  test('stores the differences of a change, and leaves the rest unchanged, here and at other replicas', async () => {
    const { config: one, postgres } = await openReplica();
    const { config: two } = await openReplica();
    await one.commit(initial);
    await eventually(() => two.current.revision === 2);
    const kept = [one.current.config.keys[7], two.current.config.keys[7]];
    await one.commit(withKey('new'));
    await two.commit(withoutKey('k5')).catch(() => two.commit(withoutKey('k5')));
    await eventually(() => one.current.revision === 4 && two.current.revision === 4);
    expect(two.current.config).toEqual(one.current.config);
    expect(one.current.config.keys).toHaveLength(keyCount);
    expect([one.current.config.keys[6], two.current.config.keys[6]]).toEqual(kept);
    expect(one.current.config.keys[6]).toBe(kept[0]);
    expect(two.current.config.keys[6]).toBe(kept[1]);
    const { rows } = await postgres.ask(
      'SELECT length(config::text) AS whole, length(patch::text) AS patch FROM config_revisions ORDER BY revision',
    );
    expect(rows).toMatchObject([{ patch: null }, { whole: null }, { whole: null }]);
    for (const { patch } of rows.slice(1)) expect(Number(patch)).toBeLessThan(Number(rows[0]?.whole) / 20);
  });

  test('is loaded at a start from the last whole revision and the changes since', async () => {
    const { config } = await openReplica();
    await config.commit(initial);
    for (const id of ['a', 'b', 'c']) await config.commit(withKey(id));
    await config.commit(withoutKey('b'));
    const { config: next } = await openReplica();
    expect(next.current).toEqual(config.current);
    await next.commit(withKey('d'));
    await eventually(() => config.current.config.keys.at(-1)?.id === 'd');
  });

  test('is stored in full now and then, so that older revisions can be deleted', async () => {
    const { config, postgres } = await openReplica();
    await config.commit(initial);
    await postgres.ask('UPDATE config_revisions SET revision = 198');
    const { config: later } = await openReplica();
    const { config: behind } = await openReplica();
    await later.commit(withKey('a'));
    await later.commit(withKey('b'));
    await eventually(
      async () => (await postgres.ask('SELECT 1 FROM config_revisions WHERE config IS NOT NULL')).count === 2,
    );
    await eventually(() => behind.current.revision === 200);
    await postgres.ask('DELETE FROM config_revisions WHERE revision < 200');
    const { config: next } = await openReplica();
    expect(next.current).toEqual(later.current);
    expect(next.current).toEqual(behind.current);
  });

  test('is followed by a replica that has missed changes which are deleted', async () => {
    const { config: one, postgres } = await openReplica();
    const { config: two } = await openReplica({ pollMs: 20 });
    await one.commit(initial);
    await eventually(() => two.current.revision === 2);
    const whole = JSON.stringify({ ...one.current.config, keys: [keyOf('only')] });
    // As after a long absence: no notice arrived, and the revisions in between are deleted.
    await postgres.ask('INSERT INTO config_revisions (revision, config, made_at) VALUES (9, $1, 0)', whole);
    await eventually(() => two.current.revision === 9);
    expect(two.current.config.keys.map(({ id }) => id)).toEqual(['only']);
  });

  test('stays unchanged if this version cannot use a change', async () => {
    const { config, postgres } = await openReplica({ pollMs: 20 });
    await config.commit(initial);
    const before = config.current;
    const patch = JSON.stringify({ version: 1_000, settings: {}, keys: { at: 0, removed: 1, entries: [{ new: 1 }] } });
    await postgres.ask('INSERT INTO config_revisions (revision, patch, made_at) VALUES (3, $1, 0)', patch);
    await expect(config.commit(withKey('a'))).rejects.toMatchObject({ code: 'conflict' });
    expect(config.current).toBe(before);
    await expect(openReplica()).rejects.toThrow('Update Sluice');
  });
});
