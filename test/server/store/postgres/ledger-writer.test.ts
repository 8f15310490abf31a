import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { RequestRecord } from '../../../../server/contract/ledger.ts';
import { readBudgetUsedUsd } from '../../../../server/store/postgres/ledger-queries.ts';
import { LedgerWriter } from '../../../../server/store/postgres/ledger-writer.ts';
import type { Postgres } from '../../../../server/store/postgres/postgres.ts';
import { type BegunRow, type EndedRow, toLedgerRow } from '../../../../server/store/rules/rows.ts';
import { sumColumns } from '../../../../server/store/rules/sums.ts';
import type { JoinedRequest } from '../../../../server/store/sqlite/derived-rows.ts';
import { hasPostgres, startPostgresInSuite } from '../../../support/postgres.ts';
import { openTables } from '../../../support/postgres-store.ts';
import { finishedRow, noon, rescuedRow, sessionMark, shadowed } from '../sqlite/records.ts';

describe.runIf(hasPostgres())('the ledger’s writer in PostgreSQL', () => {
  const server = startPostgresInSuite();
  let postgres: Postgres;
  beforeEach(async () => {
    postgres = await openTables(await server.createDatabase(), { connections: 8 });
  });
  afterEach(() => postgres.close());

  const openWriter = (part = 0) => new LedgerWriter({ postgres, replica: randomUUID(), part, now: () => noon });
  const batch = (...rows: (BegunRow | EndedRow)[]) => ({ id: randomUUID(), rows });
  const joining = (joined: JoinedRequest) => ({ id: randomUUID(), rows: [], joined: [joined] });
  const rows = async () => {
    const { rows: found } = await postgres.ask('SELECT * FROM requests ORDER BY seq');
    return found.map((row) => ({ ...toLedgerRow(row), seq: 0 }));
  };
  const sums = `sum(requests) AS requests, ${sumColumns
    .slice(1)
    .map((column) => `sum(${column}) AS ${column}`)
    .join(', ')}`;
  const sumsOf = async (table = 'usage_quarters', time = 'quarter') => {
    const { rows: found } = await postgres.ask(
      `SELECT dimension, ${time} AS time, name, ${sums} FROM ${table} GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`,
    );
    return found;
  };
  const requestsOf = async (name = 'k1') => {
    const { rows: found } = await postgres.ask(
      `SELECT coalesce(sum(requests), 0) AS requests, coalesce(sum(cost_usd), 0) AS cost_usd FROM usage_days
       WHERE dimension = 'key' AND name = $1`,
      name,
    );
    return found[0];
  };

  const tools = [{ name: 'read_file', bytes: 120, hasFailed: false }];
  /** One request of each kind that is stored differently. */
  const all: RequestRecord[] = [
    finishedRow('req_1'),
    finishedRow('req_2', { startedAt: noon + 900_000, keyId: null, groupId: null, stream: true }),
    rescuedRow('req_3'),
    rescuedRow('req_7', { outcome: 'error', status: 502, errorCode: 'upstream_unreachable' }),
    finishedRow('req_4', { provider: null, outcome: 'error', status: 404, usage: null, costUsd: 0, attempts: [] }),
    finishedRow('req_5', { session: sessionMark('ses_1', { thread: 't1', step: 'prompt', tools }), captured: 'key' }),
    finishedRow('req_6', { usage: { seconds: 1.5, images: 2 }, fault: 'slow', dropped: [], clientRetries: 2 }),
    finishedRow('req_8', { shadowOf: shadowed, sameAnswer: true, captured: 'shadow' }),
    finishedRow('req_9', { shadowOf: shadowed, sameAnswer: false }),
    finishedRow('req_10', { cassette: 'replayed' }),
  ];

  test('adds up days from the same requests as quarters', async () => {
    await openWriter().write(batch(...all));
    const perDay = `SELECT dimension, quarter / 96 AS time, name, ${sums} FROM usage_quarters GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`;
    expect(await sumsOf('usage_days', 'day')).toEqual((await postgres.ask(perDay)).rows);
  });

  test('counts a batch once, however often it is written', async () => {
    const again = batch(finishedRow('req_1'), finishedRow('req_2'));
    await Promise.allSettled([openWriter(0).write(again), openWriter(1).write(again)]);
    await openWriter(2).write(again);
    expect(await rows()).toHaveLength(2);
    expect(await requestsOf()).toMatchObject({ requests: 2 });
  });

  test('makes partitions again that are missing, as in a restored database', async () => {
    const writer = openWriter();
    await writer.write(batch(finishedRow('req_1')));
    await postgres.script('DROP TABLE requests_2026_11_20');
    const again = batch(finishedRow('req_2'));
    await expect(writer.write(again)).rejects.toThrow('no partition');
    await writer.write(again);
    expect((await rows()).map(({ id }) => id)).toEqual(['req_2']);
  });

  test('loses and doubles nothing with many replicas at the same time', async () => {
    const writers = Array.from({ length: 6 }, (_, part) => openWriter(part % 3));
    const writes = writers.flatMap((writer, replica) =>
      Array.from({ length: 5 }, (_, turn) => {
        const rowsOfTurn = Array.from({ length: 8 }, (_, index) =>
          finishedRow(`req_${replica}_${turn}_${index}`, {
            keyId: `k${(index * 7 + turn + replica) % 5}`,
            session: sessionMark(`ses_${(index * 3 + replica) % 4}`),
          }),
        );
        return writer.write(batch(...rowsOfTurn));
      }),
    );
    await Promise.all(writes);
    expect(await rows()).toHaveLength(240);
    const counts = await Promise.all(['k0', 'k1', 'k2', 'k3', 'k4'].map((id) => requestsOf(id)));
    expect(counts.reduce((sum, count) => sum + Number(count?.requests), 0)).toBe(240);
  });

  test('books a job once, whichever replica learns of its usage', async () => {
    const books = { kind: 'response', groupId: 'default', id: 'resp_1' };
    await postgres.ask(
      `INSERT INTO jobs VALUES ('response', 'default', 'resp_1', 'main', null, null, 'k1', 0, 0, null, '{}')`,
    );
    const bill: EndedRow = { ...finishedRow('req_1', { attempts: [] }), books };
    const asked: EndedRow = { ...finishedRow('req_2'), books };
    const another: EndedRow = { ...finishedRow('req_3', { attempts: [] }), books };
    for (const row of [bill, asked, another]) await openWriter().write(batch(row));
    expect((await rows()).map(({ id, usage }) => [id, usage !== null])).toEqual([
      ['req_1', true],
      ['req_2', false],
    ]);
    expect(await requestsOf()).toMatchObject({ requests: 2, cost_usd: bill.costUsd });
    expect((await postgres.ask('SELECT owed FROM jobs')).rows).toEqual([{ owed: null }]);
  });

  test('adds a request to its session later', async () => {
    const writer = openWriter();
    const joined = {
      requestId: 'req_1',
      startedAt: noon,
      hasEnded: true,
      session: sessionMark('ses_1', { step: 'tools' }),
    } as const;
    await writer.write(joining(joined));
    await writer.write(batch(finishedRow('req_1')));
    await writer.write(joining(joined));
    await writer.write(joining({ ...joined, session: sessionMark('ses_2', { thread: 't' }) }));
    expect((await rows())[0]?.session).toEqual(joined.session);
    expect(await readBudgetUsedUsd(postgres, 'ses_1')).toBe(0.001);
  });

  test('accepts names with characters that PostgreSQL cannot store', async () => {
    await openWriter().write(batch(finishedRow('req_1', { modelAsked: 'a\0b', client: '\ud800' })));
    expect((await rows())[0]).toMatchObject({ modelAsked: 'a\ufffdb' });
  });

  test('adds up names that become the same by that', async () => {
    const asked = ['a\0', 'a\ufffd', 'a\ud800'].map((modelAsked, place) =>
      finishedRow(`req_${place}`, { modelAsked, modelServed: null }),
    );
    await openWriter().write(batch(...asked));
    const ofModel = (await sumsOf()).filter(({ dimension }) => dimension === 'model');
    expect(ofModel).toMatchObject([{ name: 'a\ufffd', requests: 3 }]);
  });

  test('puts rows of wrong clocks into days near now', async () => {
    const writer = openWriter();
    await writer.write(batch(finishedRow('req_1', { startedAt: 0 }), finishedRow('req_2', { startedAt: noon * 2 })));
    const { rows: days } = await postgres.ask('SELECT day FROM requests ORDER BY day');
    const today = Math.floor(noon / 86_400_000);
    expect(days).toEqual([{ day: today - 7 }, { day: today + 1 }]);
  });
});
