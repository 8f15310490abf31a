/**
 * Copies the durable records from the SQLite files of a data folder. Existing rows stay or are replaced by equal ones,
 * so an interrupted import can be repeated. Live data in the database is not touched.
 */
import type { Row } from '../rules/columns.ts';
import { type EndedRow, toLedgerRow } from '../rules/rows.ts';
import { storableRow } from '../rules/storable-row.ts';
import { readCapture } from '../sqlite/capture-rows.ts';
import type { Database } from '../sqlite/database.ts';
import { captureDay, captureTables, writeCaptures } from './captures.ts';
import { columnsOf } from './columns.ts';
import { type Compared, compareSums, RequestTally } from './import-compare.ts';
import { copyTables } from './import-tables.ts';
import { NamesWriter } from './names-writer.ts';
import { Partitions, partitionDay } from './partitions.ts';
import type { Postgres } from './postgres.ts';
import { type PlacedRow, requestColumns, writeRequestsSql } from './request-rows.ts';

interface Files {
  /** `ledger.sqlite` */
  ledger: Database;
  /** `responses.sqlite` */
  responses: Database;
}

interface Options {
  postgres: Postgres;
  /** Called with the number of requests copied so far. */
  progress(requests: number): void;
  now?: () => number;
}

const rowsPerPiece = 1_000;
const capturesPerPiece = 20;
/** Requests from a laptop may be as old as its retention allows. */
const mostDaysBack = 3_650;
const noReplica = 'import';

/** Resolves with the sums of both sides. Rejects with PostgreSQL's or SQLite's error. */
export async function importFiles({ ledger, responses }: Files, options: Options): Promise<Compared[]> {
  const { postgres, progress, now = Date.now } = options;
  const nowMs = now();
  const tally = await copyRequests(ledger, { postgres, progress, nowMs });
  await copyCaptures(ledger, postgres, nowMs);
  await copyTables(postgres, { ledger, responses });
  return compareSums(postgres, { ledger, responses }, tally);
}

async function copyRequests(
  ledger: Database,
  { postgres, progress, nowMs }: { postgres: Postgres; progress(requests: number): void; nowMs: number },
): Promise<RequestTally> {
  const partitions = new Partitions(postgres, 'requests');
  const names = new NamesWriter();
  const tally = new RequestTally();
  const next = ledger.prepare(`SELECT * FROM requests WHERE seq > ? ORDER BY seq LIMIT ${rowsPerPiece}`);
  let copied = 0;
  for (let rows = next.all(-1); rows.length > 0; rows = next.all(Number(rows.at(-1)?.seq))) {
    const placements = rows.flatMap((row) => placeRow(row, nowMs));
    await partitions.ensure(placements.map(({ day }) => day));
    await postgres.transaction(async (queries) => {
      await queries.ask(writeRequestsSql, ...requestColumns(placements, noReplica));
      await names.add(queries, placements);
    });
    await tally.add(postgres, placements);
    copied += rows.length;
    progress(copied);
  }
  return tally;
}

/** Empty for a running request. There are none once the process has ended. */
function placeRow(row: Row, nowMs: number): PlacedRow[] {
  const { outcome, totalMs, ...request } = toLedgerRow(row);
  if (outcome === null) return [];
  const endedRow = storableRow<EndedRow>({ ...request, outcome, totalMs: totalMs ?? 0 });
  return [{ row: endedRow, day: partitionDay(endedRow.startedAt, nowMs, mostDaysBack) }];
}

async function copyCaptures(ledger: Database, postgres: Postgres, nowMs: number): Promise<void> {
  const partitions = captureTables.map((table) => new Partitions(postgres, table));
  const next = ledger.prepare(
    `SELECT seq, id, captured_at FROM captures WHERE seq > ? ORDER BY seq LIMIT ${capturesPerPiece}`,
  );
  for (let rows = next.all(-1); rows.length > 0; rows = next.all(Number(rows.at(-1)?.seq))) {
    const stored = await postgres.ask(
      'SELECT id FROM captures WHERE id = ANY($1)',
      ...columnsOf(rows.map(({ id }) => [String(id)])),
    );
    const isKnown = new Set(stored.rows.map(({ id }) => id));
    const captures = rows.flatMap(({ id, captured_at }) => {
      const exchange = isKnown.has(String(id)) ? null : readCapture(ledger, String(id));
      return exchange === null ? [] : [{ id: String(id), capturedAt: Number(captured_at), exchange }];
    });
    for (const each of partitions) await each.ensure(captures.map((capture) => captureDay(capture, nowMs)));
    await postgres.transaction((queries) => writeCaptures(queries, captures, nowMs));
  }
}
