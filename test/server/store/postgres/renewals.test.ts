import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Notices } from '../../../../server/store/postgres/notices.ts';
import { createRenewalRow } from '../../../../server/store/postgres/open-shared.ts';
import type { Postgres } from '../../../../server/store/postgres/postgres.ts';
import { eventually } from '../../../support/eventually.ts';
import { hasPostgres, startPostgresInSuite } from '../../../support/postgres.ts';
import { openTables } from '../../../support/postgres-store.ts';
import { silent } from '../sqlite/records.ts';

describe.runIf(hasPostgres())('renewed prices in PostgreSQL', () => {
  const server = startPostgresInSuite();
  let url: string;
  let postgres: Postgres;
  let closing: Notices[];
  beforeEach(async () => {
    closing = [];
    url = await server.createDatabase();
    postgres = await openTables(url);
  });
  afterEach(async () => {
    for (const notices of closing) await notices.close();
    await postgres.close();
  });

  function openReplica() {
    const notices = new Notices({ url, log: silent, pollMs: 86_400_000, reconnectMs: 20 });
    closing.push(notices);
    const row = createRenewalRow(postgres, notices);
    const heard: (string | null)[] = [];
    row.onChange(() => void row.read().then((document) => heard.push(document)));
    return { row, heard };
  }

  test('are written by one replica, and read by the others', async () => {
    const [one, two] = [openReplica(), openReplica()];
    expect(await one.row.read()).toBeNull();
    expect(await one.row.exclusive(async (before) => `after ${before}`)).toBe(true);
    await eventually(() => two.heard.at(-1) === 'after null');
    expect(await two.row.exclusive(async () => null)).toBe(true);
    expect(await one.row.read()).toBe('after null');
  });

  test('are not read twice: while one replica is at it, the others do nothing', async () => {
    const [one, two] = [openReplica(), openReplica()];
    const calls: string[] = [];
    const isDoneByTwo = await new Promise((resolve) => {
      void one.row.exclusive(async () => {
        resolve(await two.row.exclusive(async () => `${calls.push('two')}`));
        return null;
      });
    });
    expect([isDoneByTwo, calls]).toEqual([false, []]);
  });
});
