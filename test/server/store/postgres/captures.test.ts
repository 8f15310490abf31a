import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { CapturedExchange } from '../../../../server/contract/capture.ts';
import { readCapture } from '../../../../server/store/postgres/captures.ts';
import { LedgerWriter } from '../../../../server/store/postgres/ledger-writer.ts';
import type { Postgres } from '../../../../server/store/postgres/postgres.ts';
import { getRequest, listRequests } from '../../../../server/store/postgres/request-queries.ts';
import { sweepLedger } from '../../../../server/store/postgres/retention.ts';
import { hasPostgres, startPostgresInSuite } from '../../../support/postgres.ts';
import { openTables } from '../../../support/postgres-store.ts';
import { capturedExchange, finishedRow, startedRow } from '../../ledger/records.ts';

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

  const startedAt = nowMs - 1_000;
  const captured = (id: string, more = {}) => finishedRow(id, { captured: 'key', startedAt, ...more });
  const write = (id: string, exchange: CapturedExchange<Uint8Array>, capturedAt = nowMs) =>
    writer.write({ id: randomUUID(), rows: [captured(id)], captures: [{ id, capturedAt, exchange }] });
  async function read(id: string) {
    const request = await getRequest(postgres, id);
    if (!request) throw new Error(`There is no ${id}.`);
    return readCapture(postgres, request);
  }

  test('is read as it was', async () => {
    const exchange = capturedExchange('{"a":"\u0000\u{1f44b}"}', 'answer');
    const [attempt] = exchange.attempts;
    if (!attempt) throw new Error('unreachable: it has one');
    const sent = { ...attempt.request, body: Buffer.from([0, 255, 10]) };
    const whole = { ...exchange, attempts: [attempt, { ...attempt, request: sent }] };
    await write('req_1', whole);
    const { capture, absence } = await read('req_1');
    expect(absence).toBeNull();
    expect(capture).toEqual(whole);
  });

  test('is found by its words, also in Chinese and while a word is being typed', async () => {
    await write('req_1', capturedExchange('{"messages":[{"role":"user","content":"Where is the lighthouse?"}]}'));
    await write(
      'req_2',
      capturedExchange('{"content":"你好，世界"}', 'data: {"delta":"oc"}\n\ndata: {"delta":"topus"}\n\n'),
    );
    await write('req_3', capturedExchange(`it's \\'quoted' & | ! ( ) :* text`));
    const found = async (search: string) => (await listRequests(postgres, { search })).requests.map(({ id }) => id);
    expect(await found('lighthouse where')).toEqual(['req_1']);
    expect(await found('lightho')).toEqual(['req_1']);
    expect(await found('世界')).toEqual(['req_2']);
    expect(await found('octopus')).toEqual(['req_2']);
    expect(await found("quoted' & !( :*")).toEqual(['req_3']);
    expect(await found('lighthouse octopus')).toEqual([]);
  });

  test('says why there is nothing', async () => {
    const rows = [
      finishedRow('req_off', { startedAt }),
      startedRow('req_running', { startedAt }),
      captured('req_session', { capability: 'realtime' }),
      captured('req_lost', { startedAt: nowMs }),
    ];
    await writer.write({ id: randomUUID(), rows });
    const absences = await Promise.all(['off', 'running', 'session', 'lost'].map((name) => read(`req_${name}`)));
    expect(absences.map(({ absence }) => absence)).toEqual(['off', 'running', 'session', 'expired']);
    await write('req_1', capturedExchange('text'), nowMs - 60_000);
    expect((await read('req_lost')).absence).toBe('lost');
  });

  test('is dropped before the request is', async () => {
    const day = 86_400_000;
    await write('req_1', capturedExchange('old words'), nowMs - 5 * day);
    await write('req_2', capturedExchange('new words'));
    await postgres.exclusive(1, (queries) =>
      sweepLedger(queries, { retentionDays: 90, retentionRows: 1_000, captureRetentionDays: 3 }),
    );
    expect((await read('req_1')).absence).toBe('expired');
    expect((await read('req_2')).capture).not.toBeNull();
    expect((await listRequests(postgres, { search: 'words' })).requests.map(({ id }) => id)).toEqual(['req_2']);
  });
});
