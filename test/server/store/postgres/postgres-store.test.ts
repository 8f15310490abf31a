import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { configSchema } from '../../../../server/contract/config.ts';
import { Replicas } from '../../../../server/store/postgres/replicas.ts';
import { openSealedSecrets } from '../../../../server/store/postgres/secret-store.ts';
import { eventually } from '../../../support/eventually.ts';
import { hasPostgres, startPostgresInSuite } from '../../../support/postgres.ts';
import { openReplicaStore, openTables } from '../../../support/postgres-store.ts';
import { job, jobContract, keptResponseContract, reasoningContract } from '../contract/jobs.ts';
import { ledgerContract } from '../contract/ledger/ledger.ts';
import { type StoreSubject, useStore } from '../contract/store-subject.ts';
import { silent } from '../sqlite/records.ts';

describe.runIf(hasPostgres())('the store in PostgreSQL', () => {
  const server = startPostgresInSuite();
  let url: string;
  beforeEach(async () => {
    url = await server.createDatabase();
  });

  const subject: StoreSubject = {
    open: (settings) => openReplicaStore(url, { dataDir: null, log: { ...silent, error() {} }, settings }),
    async findInterrupted() {
      let steadyMs = 0;
      const postgres = await openTables(url);
      const life = new Replicas({ postgres, replica: randomUUID(), part: 0, log: silent, steadyMs: () => steadyMs });
      for (; steadyMs <= 65_000; steadyMs += 5_000) await life.beat();
      await life.markInterrupted();
      await postgres.close();
    },
  };
  jobContract(subject);
  keptResponseContract(subject);
  reasoningContract(subject);
  ledgerContract(subject);

  describe('of two replicas', () => {
    const used = useStore(subject);

    test('has the jobs, kept responses and reasoning of one for the other', async () => {
      const other = await used.openAnother();
      const { jobs, keptResponses, reasoning } = used.store;
      jobs.remember(job('video_1'));
      keptResponses.keep({ id: 'resp_1', groupId: 'default', response: '{}', input: '[]' });
      reasoning.keep('k1', 'call_1', '"because"');
      await eventually(
        async () => (await other.jobs.lookUp(['video_1'], 'default')).find('video', 'video_1', 'default') !== undefined,
      );
      await eventually(async () => (await other.keptResponses.find('resp_1', 'default')) !== undefined);
      await eventually(async () => {
        await other.reasoning.prefetch?.('k1', ['call_1']);
        return other.reasoning.find('k1', ['call_1']).size > 0;
      });
    });

    test('knows of a size that another notes later, also of a job that it has in memory', async () => {
      const other = await used.openAnother();
      const made = job('resp_1', { kind: 'response' });
      const find = async () =>
        (await other.jobs.lookUp(['resp_1'], 'default', { withSizes: true })).findAny('resp_1', 'default');
      await used.store.jobs.remember(made);
      expect(await find()).toEqual(made);
      used.store.jobs.noteSize(made, 7);
      await used.store.jobs.flush();
      expect(await find()).toEqual({ ...made, inputTokens: 7 });
      // A replica that does not know of sizes leaves it.
      other.jobs.remember(made);
      await other.jobs.flush();
      expect(await find()).toEqual({ ...made, inputTokens: 7 });
    });

    test('gives an object that both have seen to the first', async () => {
      const other = await used.openAnother();
      used.store.jobs.rememberNew(job('file-1', { kind: 'object', groupId: 'one' }));
      await used.store.jobs.flush();
      other.jobs.rememberNew(job('file-1', { kind: 'object', groupId: 'two' }));
      await other.jobs.flush();
      expect((await other.jobs.lookUp(['file-1'], 'two')).findAny('file-1', 'two')).toBe('foreign');
    });
  });

  test('keeps the usage of a job booked, whatever a replica without that information remembers', async () => {
    const store = await subject.open(() => configSchema.parse({ version: 1 }).settings);
    const tables = await openTables(url);
    const made = job('resp_1', { kind: 'response', owed: { usage: {}, costUsd: 0.5 } });
    store.jobs.remember(made);
    await store.jobs.flush();
    await tables.ask(`INSERT INTO booked_jobs (kind, group_id, id) VALUES ('response', 'default', 'resp_1')`);
    await tables.ask('UPDATE jobs SET owed = NULL');
    store.jobs.remember(made);
    await store.jobs.flush();
    expect((await tables.ask('SELECT owed FROM jobs')).rows).toEqual([{ owed: null }]);
    await tables.close();
    await store.close();
  });

  test('does not bill a job that another replica has billed, though it remembers that the job owes', async () => {
    const store = await subject.open(() => configSchema.parse({ version: 1 }).settings);
    const tables = await openTables(url);
    const made = job('resp_1', { kind: 'response', owed: { usage: {}, costUsd: 0.5 } });
    store.jobs.remember(made);
    await store.jobs.flush();
    const found = async () => (await store.jobs.lookUp(['resp_1'], 'default')).find('response', 'resp_1', 'default');
    expect((await found())?.owed).toBeDefined();
    await tables.ask('UPDATE jobs SET owed = NULL');
    expect(await found()).toMatchObject({ id: 'resp_1' });
    expect(store.jobs.settle(made)).toBeUndefined();
    await tables.close();
    await store.close();
  });

  test('bills a job once, though it was looked up before and is asked for after that', async () => {
    const store = await subject.open(() => configSchema.parse({ version: 1 }).settings);
    const made = job('resp_1', { kind: 'response', owed: { usage: {}, costUsd: 0.5 } });
    store.jobs.remember(made);
    await store.jobs.flush();
    const earlier = await store.jobs.lookUp(['resp_1'], 'default');
    expect(store.jobs.settle(made)).toBeDefined();
    earlier.find('response', 'resp_1', 'default');
    expect(store.jobs.settle(made)).toBeUndefined();
    await store.close();
  });

  describe('while the database is away', () => {
    const used = useStore(subject);

    test('finds recent jobs in memory, reports that it cannot look up others, and writes new ones afterwards', async () => {
      const { jobs } = used.store;
      jobs.remember(job('video_1'));
      await jobs.flush();
      await server.kill();
      expect((await jobs.lookUp(['video_1'], 'default')).find('video', 'video_1', 'default')).toEqual(job('video_1'));
      const looking = async () => jobs.lookUp(['video_2'], 'default');
      await expect(looking()).rejects.toMatchObject({ code: 'storage_unavailable' });
      jobs.remember(job('video_3'));
      await jobs.flush();
      await server.start();
      await eventually(async () => {
        await jobs.flush();
        return (await jobs.lookUp(['video_3'], 'default')).find('video', 'video_3', 'default') !== undefined;
      });
    });

    test('says of secrets that they cannot be read or changed now', async () => {
      const tables = await openTables(url);
      const secrets = await openSealedSecrets(tables, { passphrase: 'a passphrase' });
      await secrets.set('provider/main/c1', 'upstream-secret');
      await server.kill();
      const away = { code: 'storage_unavailable', message: expect.not.stringContaining('upstream-secret') };
      await expect(secrets.get('provider/main/c1')).rejects.toMatchObject(away);
      await expect(secrets.set('provider/main/c1', 'upstream-secret')).rejects.toMatchObject(away);
      await server.start();
      expect(await secrets.get('provider/main/c1')).toBe('upstream-secret');
      await tables.close();
    });

    test('answers without what was kept', async () => {
      const { keptResponses, reasoning } = used.store;
      await server.kill();
      expect(await keptResponses.find('resp_1', 'default')).toBeUndefined();
      await reasoning.prefetch?.('k1', ['call_1']);
      expect(reasoning.find('k1', ['call_1']).size).toBe(0);
      await server.start();
    });
  });
});
