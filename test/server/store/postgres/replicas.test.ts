import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readBudgetUsedUsd } from '../../../../server/store/postgres/ledger-queries.ts';
import { LedgerWriter } from '../../../../server/store/postgres/ledger-writer.ts';
import type { Postgres } from '../../../../server/store/postgres/postgres.ts';
import { Replicas } from '../../../../server/store/postgres/replicas.ts';
import { sweepLedger } from '../../../../server/store/postgres/sweeps.ts';
import type { RetentionLimits } from '../../../../server/store/sqlite/retention.ts';
import { eventually } from '../../../support/eventually.ts';
import { hasPostgres, startPostgresInSuite } from '../../../support/postgres.ts';
import { openTables } from '../../../support/postgres-store.ts';
import { finishedRow, noon, sessionMark, silent, startedRow } from '../sqlite/records.ts';

describe.runIf(hasPostgres())('in PostgreSQL', () => {
  const server = startPostgresInSuite();
  let postgres: Postgres;
  let steadyMs: number;
  beforeEach(async () => {
    steadyMs = 0;
    postgres = await openTables(await server.createDatabase());
  });
  afterEach(() => postgres.close());

  const minute = 60_000;
  const day = 1_440 * minute;

  function openReplica(nowMs = noon) {
    const replica = randomUUID();
    return {
      replica,
      writer: new LedgerWriter({ postgres, replica, part: 0, now: () => nowMs }),
      life: new Replicas({ postgres, replica, part: 0, log: silent, steadyMs: () => steadyMs }),
    };
  }
  const write = ({ writer }: ReturnType<typeof openReplica>, ...rows: Parameters<LedgerWriter['write']>[0]['rows']) =>
    writer.write({ id: randomUUID(), rows });
  const outcomes = async () => {
    const { rows } = await postgres.ask('SELECT id, outcome FROM requests ORDER BY id');
    return Object.fromEntries(rows.map(({ id, outcome }) => [id, outcome]));
  };
  const diedLongAgo = ({ replica }: ReturnType<typeof openReplica>) =>
    postgres.ask("UPDATE replicas SET seen_at = now() - interval '2 minutes' WHERE id = $1", replica);
  /** Sends beats for more than a minute. */
  async function liveOn({ life }: ReturnType<typeof openReplica>): Promise<void> {
    for (let beats = 0; beats < 14; beats++) {
      await life.beat();
      steadyMs += 5_000;
    }
  }

  describe('the requests of a replica that is gone', () => {
    test('were interrupted, and count with what was reserved for them, once', async () => {
      const [gone, one, other] = [openReplica(), openReplica(), openReplica()];
      for (const each of [gone, one, other]) await each.life.beat();
      const reserved = { usage: { inputTokens: 7 }, costUsd: 0.5 };
      await write(
        gone,
        { ...startedRow('req_gone', { session: sessionMark('ses_1') }), reserved },
        finishedRow('req_done', { keyId: 'k2' }),
      );
      await write(one, startedRow('req_runs'));
      await liveOn(one);
      await liveOn(other);
      await diedLongAgo(gone);
      const marked = await Promise.all([one.life.markInterrupted(), other.life.markInterrupted()]);
      expect(marked.sort()).toEqual([0, 1]);
      expect(await outcomes()).toEqual({ req_done: 'ok', req_gone: 'interrupted', req_runs: null });
      const { rows } = await postgres.ask(
        "SELECT requests, input_tokens, cost_usd FROM usage_days WHERE dimension = 'key' AND name = 'k1'",
      );
      expect(rows).toEqual([{ requests: 1, input_tokens: 7, cost_usd: 0.5 }]);
      expect(await readBudgetUsedUsd(postgres, 'ses_1')).toBe(0.5);
    });

    test('count with their end if they have ended after all, whenever that is written', async () => {
      const [away, one] = [openReplica(), openReplica()];
      const session = sessionMark('ses_1');
      const reserved = { usage: { inputTokens: 7 }, costUsd: 0.5 };
      await write(away, { ...startedRow('req_late', { session }), reserved }, startedRow('req_gone'));
      await liveOn(one);
      expect(await one.life.markInterrupted()).toBe(2);
      const end = finishedRow('req_late', { session, costUsd: 0.25 });
      await write(away, end, finishedRow('req_new', { costUsd: 1 }));
      await write(away, end);
      expect(await outcomes()).toEqual({ req_gone: 'interrupted', req_late: 'ok', req_new: 'ok' });
      for (const table of ['usage_days', 'usage_quarters']) {
        const { rows } = await postgres.ask(
          `SELECT sum(requests) AS requests, sum(errors) AS errors, sum(input_tokens) AS tokens, sum(cost_usd) AS usd FROM ${table} WHERE dimension = 'key'`,
        );
        expect(rows).toEqual([{ requests: 3, errors: 1, tokens: 20, usd: 1.25 }]);
      }
      expect(await readBudgetUsedUsd(postgres, 'ses_1')).toBe(0.25);
    });

    test('were interrupted also if it has left nothing but them', async () => {
      const one = openReplica();
      await write(openReplica(), startedRow('req_gone'));
      await liveOn(one);
      expect(await one.life.markInterrupted()).toBe(1);
    });

    test('are not marked by a replica that has itself not seen the database for long', async () => {
      const [other, one] = [openReplica(), openReplica()];
      await other.life.beat();
      await write(other, startedRow('req_runs'));
      await liveOn(one);
      await diedLongAgo(other);
      steadyMs += 5 * minute;
      expect(await one.life.markInterrupted()).toBe(0);
      await one.life.beat();
      expect(await one.life.markInterrupted()).toBe(0);
      await other.life.beat();
      await liveOn(one);
      expect(await one.life.markInterrupted()).toBe(0);
      expect(await outcomes()).toEqual({ req_runs: null });
    });
  });

  describe('the sweep', () => {
    const nowMs = Date.now();
    const at = (days: number) => finishedRow(`req_${days}`, { startedAt: nowMs - days * day });
    const limits = (retentionDays: number, retentionRows: number) => ({
      retentionDays,
      retentionRows,
      captureRetentionDays: 7,
      captureBytes: 1e9,
    });
    const sweep = (kept: RetentionLimits) => postgres.exclusive(1, (queries) => sweepLedger(queries, kept));
    const left = async () => {
      const { rows } = await postgres.ask('SELECT id FROM requests ORDER BY seq');
      return rows.map(({ id }) => id);
    };

    test('drops days that are too old, and keeps what is left in order', async () => {
      const replica = openReplica(nowMs);
      const session = sessionMark('ses_old');
      await write(replica, { ...at(5), session }, at(3), at(1), at(0));
      expect(await sweep(limits(4, 1_000))).toBe(1);
      expect(await left()).toEqual(['req_3', 'req_1', 'req_0']);
      const { rows } = await postgres.ask(
        `SELECT (SELECT count(*) FROM sessions) AS sessions, (SELECT count(DISTINCT day) FROM request_names) AS named,
           (SELECT count(*) FROM usage_days WHERE dimension = 'day') AS days`,
      );
      expect(rows).toEqual([{ sessions: 0, named: 3, days: 3 }]);
      expect(await sweep(limits(4, 1_000))).toBe(0);
    });

    test('drops the oldest days of too many requests', async () => {
      await write(openReplica(nowMs), at(3), at(2), at(1), at(0));
      await sweep(limits(90, 2));
      expect(await left()).toEqual(['req_2', 'req_1', 'req_0']);
      await sweep(limits(90, 1_000));
      expect(await left()).toHaveLength(3);
    });

    test('waits for readers of a day, and blocks no other query in the meantime', async () => {
      const replica = openReplica(nowMs);
      await write(replica, at(5), at(0));
      await postgres.transaction(async (queries) => {
        await queries.ask('SELECT * FROM requests');
        const sweeping = sweep(limits(4, 1_000));
        await eventually(async () => {
          const { rows } = await postgres.ask('SELECT 1 FROM pg_inherits WHERE inhdetachpending');
          return rows.length > 0;
        });
        await write(replica, at(2));
        expect(await left()).toEqual(['req_0', 'req_2']);
        expect(await sweeping).toBe(0);
      });
      expect(await sweep(limits(4, 1_000))).toBe(1);
      await write(replica, at(1));
      expect(await left()).toEqual(['req_0', 'req_2', 'req_1']);
    });
  });
});
