import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { CapturedExchange } from '../../../../server/contract/capture.ts';
import { readCapture } from '../../../../server/store/postgres/captures.ts';
import { getRequest, listRequests } from '../../../../server/store/postgres/ledger-queries.ts';
import { LedgerWriter } from '../../../../server/store/postgres/ledger-writer.ts';
import type { Postgres } from '../../../../server/store/postgres/postgres.ts';
import { sweepLedger } from '../../../../server/store/postgres/sweeps.ts';
import { hasPostgres, startPostgresInSuite } from '../../../support/postgres.ts';
import { openTables } from '../../../support/postgres-store.ts';
import { capturedExchange, finishedRow } from '../sqlite/records.ts';

describe.runIf(hasPostgres())('what was captured, in PostgreSQL', () => {
  const server = startPostgresInSuite();
  let postgres: Postgres;
  let writer: LedgerWriter;
  const nowMs = Date.now();
  beforeEach(async () => {
    postgres = await openTables(await server.createDatabase());
    writer = new LedgerWriter({ postgres, replica: randomUUID(), part: 0, now: () => nowMs });
  });
  afterEach(() => postgres.close());

  const write = (id: string, exchange: CapturedExchange<Uint8Array>, capturedAt: number) => {
    const row = finishedRow(id, { captured: 'key', startedAt: nowMs - 1_000 });
    return writer.write({ id: randomUUID(), rows: [row], captures: [{ id, capturedAt, exchange }] });
  };
  async function read(id: string) {
    const request = await getRequest(postgres, id);
    if (!request) throw new Error(`There is no ${id}.`);
    return readCapture(postgres, request);
  }

  test('is dropped before the request is', async () => {
    const day = 86_400_000;
    await write('req_1', capturedExchange('old words'), nowMs - 5 * day);
    await write('req_2', capturedExchange('new words'), nowMs);
    await postgres.exclusive(1, (queries) =>
      sweepLedger(queries, { retentionDays: 90, retentionRows: 1_000, captureRetentionDays: 3, captureBytes: 1e9 }),
    );
    expect((await read('req_1')).absence).toBe('expired');
    expect((await read('req_2')).capture).not.toBeNull();
    expect((await listRequests(postgres, { search: 'words' })).requests.map(({ id }) => id)).toEqual(['req_2']);
  });

  test('that an earlier version stored is found as that version found it, and what is stored now is not', async () => {
    const found = async (search: string) => (await listRequests(postgres, { search })).requests.map(({ id }) => id);
    await write('req_1', capturedExchange('"user@example.com asks: 学习"'), nowMs);
    // What the versions before stored: the text for PostgreSQL's parser, and pairs of characters.
    await postgres.ask("UPDATE captures SET words = to_tsvector('simple', 'user@example.com asks 学 习 学习')");
    await write('req_2', capturedExchange('"user@example.com says: then ask"'), nowMs);
    expect(await found('user@example.com')).toEqual(['req_2', 'req_1']);
    expect(await found('example.com')).toEqual(['req_2']);
    for (const search of ['学习', 'asks', 'asks:']) expect(await found(search)).toEqual(['req_1']);
    // The earlier form of the search has two words, which may be anywhere.
    expect(await found('says:ask')).toEqual([]);
    expect(await found('then ask')).toEqual(['req_2']);
  });
});
