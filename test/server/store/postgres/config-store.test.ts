import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ConfigStore } from '../../../../server/config/config-store.ts';
import type { ConfigInput } from '../../../../server/contract/config.ts';
import { eventually } from '../../../support/eventually.ts';
import { hasPostgres, startPostgresInSuite } from '../../../support/postgres.ts';
import { type ConfigConnecting, openReplicaConfig } from '../../../support/postgres-store.ts';

describe.runIf(hasPostgres())('the configuration in PostgreSQL', () => {
  const server = startPostgresInSuite();
  let url: string;
  let closing: (() => Promise<void>)[];
  beforeEach(async () => {
    closing = [];
    url = await server.createDatabase();
  });
  afterEach(async () => {
    server.go();
    for (const close of closing.reverse()) await close();
  });

  const openReplica = (connecting?: ConfigConnecting) => openReplicaConfig(url, closing, connecting);

  const withGroup = (id: string) => (current: ConfigInput) => ({
    ...current,
    groups: [...(current.groups ?? []), { id }],
  });
  const groupsOf = ({ current }: ConfigStore) => current.config.groups.map(({ id }) => id);

  const manyGroups = Array.from({ length: 600 }, (_, index) => ({ id: `many-${index}` }));

  test('is the first run’s until the first commit, and is found by the next start', async () => {
    const { config } = await openReplica();
    expect(config).toMatchObject({ isFirstRun: true, readOnly: false });
    await config.commit(withGroup('team'), 1);
    const { config: next } = await openReplica();
    expect(next.isFirstRun).toBe(false);
    expect(next.current).toEqual(config.current);
  });

  test('follows another replica’s commits without waiting for its next poll', async () => {
    const { config: one } = await openReplica();
    const { config: two } = await openReplica();
    const seen: number[] = [];
    two.onChange(({ revision }) => seen.push(revision));
    // Whether the second store is already listening can only be seen by its receiving a change.
    await one.commit(withGroup('early'));
    await eventually(() => groupsOf(two).includes('early'));
    const { revision } = await one.commit(withGroup('team'));
    await eventually(() => groupsOf(two).includes('team'));
    expect(seen.at(-1)).toBe(revision);
  });

  test('is changed by one of two concurrent commits, and the other gets an error', async () => {
    const { config: one } = await openReplica();
    const { config: two } = await openReplica();
    const results = await Promise.allSettled([one.commit(withGroup('a'), 1), two.commit(withGroup('b'), 1)]);
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const [refused] = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
    expect(refused).toMatchObject({ code: 'conflict' });
    await eventually(() => groupsOf(one).join() === groupsOf(two).join());
    expect(groupsOf(one)).toHaveLength(2);
  });

  test('loses no change that names no revision, however many are made at the same time', async () => {
    const replicas = await Promise.all([openReplica(), openReplica(), openReplica()]);
    const ids = Array.from({ length: 9 }, (_, index) => `group-${index}`);
    await Promise.all(ids.map((id, index) => replicas[index % 3]?.config.commit(withGroup(id))));
    for (const { config } of replicas) await eventually(() => config.current.revision === 10);
    expect(replicas.map(({ config }) => groupsOf(config).sort().slice(1))).toEqual([ids, ids, ids]);
  });

  test('stored by an earlier version with a removed field is read without it, and that is told once', async () => {
    const { postgres } = await openReplica();
    const shadow = { target: 'main/m', share: 0.1, dailyUsd: 1 };
    const store = (revision: number, groups: object[]) =>
      postgres.ask('INSERT INTO config_revisions VALUES ($1, $2, 0)', revision, JSON.stringify({ version: 1, groups }));
    await store(2, [
      { id: 'default', shadow },
      { id: 'plain', shadow: null },
    ]);
    const { config } = await openReplica({ pollMs: 20 });
    expect(groupsOf(config)).toEqual(['default', 'plain']);
    expect(config.removed).toEqual([expect.stringMatching(/^groups\.default\.shadow in the database has no effect/)]);
    await store(3, [{ id: 'default', shadow }, { id: 'plain' }, { id: 'later' }]);
    await eventually(() => groupsOf(config).includes('later'));
    expect(config.removed).toHaveLength(1);
  });

  test('is stored so that replicas of version 1 can follow it, and changes that these store are followed', async () => {
    const { config, postgres } = await openReplica({ pollMs: 20 });
    await config.commit(withGroup('team'));
    await config.commit({ ...config.current.config, groups: manyGroups });
    await config.commit(({ groups = [], ...rest }) => ({ ...rest, groups: [...groups, { id: 'late' }] }));
    const { rows } = await postgres.ask('SELECT config, patch FROM config_revisions ORDER BY revision');
    const stored = rows.map(({ config: whole, patch }) => JSON.parse(String(patch ?? whole)));
    expect(stored.map(({ version }) => version)).toEqual([1, 1, 1]);
    expect(stored[2].groups).toEqual({ at: 600, removed: 0, entries: [{ id: 'late' }] });
    const splice = { at: 0, removed: 1, entries: [{ id: 'by-version-1' }] };
    await postgres.ask(
      'INSERT INTO config_revisions (revision, patch, made_at) VALUES (5, $1, 0)',
      JSON.stringify({ version: 1, settings: {}, groups: splice }),
    );
    await eventually(() => groupsOf(config).includes('by-version-1'));
    expect(config.current).toMatchObject({ revision: 5, config: { version: 2 } });
    expect(groupsOf(config)).toHaveLength(601);
  });

  test('that cannot be used by this version leaves the one before in force, and refuses changes', async () => {
    const { config, postgres } = await openReplica({ pollMs: 20 });
    const before = config.current;
    await postgres.ask('INSERT INTO config_revisions VALUES (2, \'{"version": 1000}\', 0)');
    await expect(config.commit(withGroup('team'), 1)).rejects.toMatchObject({ code: 'conflict' });
    expect(config.current).toBe(before);
    await expect(openReplica()).rejects.toThrow('Update Sluice');
  });

  test('stays in force while the database is unavailable, refuses changes, and is followed again afterwards', async () => {
    const { config: one } = await openReplica();
    const { config: two } = await openReplica();
    await one.commit(withGroup('team'));
    await server.kill();
    await expect(one.commit(withGroup('lost'))).rejects.toMatchObject({ code: 'storage_unavailable' });
    expect(groupsOf(one)).toContain('team');
    await server.start();
    await one.commit(withGroup('after'));
    await eventually(() => groupsOf(two).includes('after'));
    expect(groupsOf(two)).not.toContain('lost');
  });

  test('refuses a change within five seconds while the database hangs, even behind other waiting changes', async () => {
    const { config, postgres } = await openReplica({ pollMs: 20 });
    await server.pause();
    const waiting = Array.from({ length: 6 }, () => postgres.ask('SELECT 1').catch(() => {}));
    // By now the configuration is being followed, and notices have requested that once more.
    await sleep(100);
    const beganMs = performance.now();
    await expect(config.commit(withGroup('refused'))).rejects.toMatchObject({ code: 'storage_unavailable' });
    // Two waits take five seconds, plus the delay of a busy machine. A third wait would make it seven and a half.
    expect(performance.now() - beganMs).toBeLessThan(7_000);
    server.go();
    await Promise.all(waiting);
    await eventually(async () => {
      await config.commit(withGroup('after'));
      return true;
    });
    expect(groupsOf(config)).not.toContain('refused');
  });

  test('is not changed later by a commit that was refused while the database hung', async () => {
    const { config, postgres } = await openReplica({ connections: 1, statementMs: 100, connectMs: 100 });
    const { rows } = await postgres.ask('SELECT pg_backend_pid() AS pid');
    await server.pause();
    await expect(config.commit(withGroup('refused'))).rejects.toMatchObject({ code: 'storage_unavailable' });
    server.go();
    // By then, the server has processed everything that it was sent before.
    const isGone = `SELECT FROM pg_stat_activity WHERE pid = ${rows[0]?.pid}`;
    await eventually(async () => (await server.query(isGone)).length === 0);
    await config.commit(withGroup('after'), 1);
    expect(groupsOf(config)).toEqual(expect.not.arrayContaining(['refused']));
  });
});
