import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { StoppedSessions } from '../../../../server/store/postgres/ledger.ts';
import { readBudgetUsedUsd } from '../../../../server/store/postgres/ledger-queries.ts';
import { LedgerWriter } from '../../../../server/store/postgres/ledger-writer.ts';
import { Notices } from '../../../../server/store/postgres/notices.ts';
import type { Postgres } from '../../../../server/store/postgres/postgres.ts';
import { eventually } from '../../../support/eventually.ts';
import { hasPostgres, startPostgresInSuite } from '../../../support/postgres.ts';
import { openTables } from '../../../support/postgres-store.ts';
import { finishedRow, noon, sessionMark, silent } from '../sqlite/records.ts';

describe.runIf(hasPostgres())('a stopped session in PostgreSQL', () => {
  const server = startPostgresInSuite();
  let url: string;
  let postgres: Postgres;
  let closing: Notices[];
  beforeEach(async () => {
    closing = [];
    url = await server.createDatabase();
    postgres = await openTables(url);
    const writer = new LedgerWriter({ postgres, replica: randomUUID(), part: 0, now: () => noon });
    const session = sessionMark('ses_1');
    await writer.write({ id: randomUUID(), rows: [finishedRow('req_1', { session })] });
  });
  afterEach(async () => {
    for (const notices of closing) await notices.close();
    await postgres.close();
  });

  async function openReplica() {
    const notices = new Notices({ url, log: silent, pollMs: 86_400_000, reconnectMs: 20 });
    closing.push(notices);
    const sessions = new StoppedSessions({ postgres, notices, log: silent });
    const heard: string[] = [];
    sessions.onChange((id, isStopped) => heard.push(`${id} ${isStopped ? 'stops' : 'goes on'}`));
    await sessions.open();
    return { sessions, heard };
  }

  test('is stopped at every replica, until it goes on', async () => {
    const [one, two] = [await openReplica(), await openReplica()];
    expect(await one.sessions.set('ses_1', noon)).toBe(true);
    expect(one.heard).toEqual(['ses_1 stops']);
    await eventually(() => two.sessions.ids.has('ses_1'));
    expect((await openReplica()).sessions.ids).toEqual(new Set(['ses_1']));
    await two.sessions.set('ses_1', null);
    await eventually(() => !one.sessions.ids.has('ses_1'));
    expect(one.heard).toEqual(['ses_1 stops', 'ses_1 goes on']);
    expect(two.heard).toEqual(['ses_1 stops', 'ses_1 goes on']);
  });

  test('has a new budget once it goes on', async () => {
    const { sessions } = await openReplica();
    await sessions.set('ses_1', noon);
    expect(await readBudgetUsedUsd(postgres, 'ses_1')).toBe(0.001);
    await sessions.set('ses_1', null);
    expect(await readBudgetUsedUsd(postgres, 'ses_1')).toBe(0);
  });

  test('is none that is not known', async () => {
    const { sessions, heard } = await openReplica();
    expect(await sessions.set('ses_none', noon)).toBe(false);
    expect(heard).toEqual([]);
  });

  test('is noticed after the database was unavailable', async () => {
    const [one, two] = [await openReplica(), await openReplica()];
    await server.kill();
    await expect(one.sessions.set('ses_1', noon)).rejects.toThrow();
    await server.start();
    expect(await one.sessions.set('ses_1', noon)).toBe(true);
    await eventually(() => two.sessions.ids.has('ses_1'));
  });
});
