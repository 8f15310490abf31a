/** Writes a batch of the ledger in one transaction: requests, the sums of usage, last uses of keys, captured bodies. */
import type { RequestRecord, RequestStarted } from '../contract/ledger.ts';
import type { Database } from '../database.ts';
import {
  finishedValues,
  insertFinishedSql,
  insertStartedSql,
  startedValues,
  toLedgerRow,
  updateFinishedSql,
} from './rows.ts';
import { prepareSumsWriter, UsageSums } from './usage-cells.ts';

export interface Capture {
  id: string;
  capturedAt: number;
  request: Uint8Array | null;
  response: Uint8Array | null;
}

export interface LedgerWriter {
  /** Writes all or throws and writes nothing. */
  write(requests: readonly (RequestStarted | RequestRecord)[], captures: readonly Capture[]): void;
  /** Marks what an earlier run left unfinished. Returns how many there were. */
  markInterrupted(): number;
}

export const isFinished = (row: RequestStarted | RequestRecord): row is RequestRecord => 'outcome' in row;

/** A request that began and ended within the batch is one row; the order is that in which they began. */
function latestById(rows: readonly (RequestStarted | RequestRecord)[]): Iterable<RequestStarted | RequestRecord> {
  const latest = new Map<string, RequestStarted | RequestRecord>();
  for (const row of rows) latest.set(row.id, row);
  return latest.values();
}

export function createLedgerWriter(database: Database): LedgerWriter {
  const addSums = prepareSumsWriter(database);
  const addKeyUses = prepareKeyUsesWriter(database);
  const writeRequest = prepareRequestWriter(database);
  const insertCapture = database.prepare(
    'INSERT INTO captures (id, captured_at, request, response) VALUES (?, ?, ?, ?)',
  );
  /** Where the rows of requests in flight are, by request id. */
  const running = new Map<string, number>();

  return {
    write(rows, captures) {
      const begun = new Map<string, number>();
      database.transaction(() => {
        const sums = new UsageSums();
        for (const row of latestById(rows)) {
          const seq = writeRequest(row, running.get(row.id));
          if (isFinished(row)) sums.add(row);
          else begun.set(row.id, seq);
        }
        addSums(sums);
        addKeyUses(rows);
        for (const one of captures) insertCapture.run(one.id, one.capturedAt, one.request, one.response);
      });
      // Only now is it certain that the rows are there.
      for (const row of rows) if (isFinished(row)) running.delete(row.id);
      for (const [id, seq] of begun) running.set(id, seq);
    },
    markInterrupted: () => database.transaction(() => markInterrupted(database, addSums)),
  };
}

/** Returns a function that writes a request, over its row if it has one, and returns the place of a new row. */
function prepareRequestWriter(database: Database) {
  const insertStarted = database.prepare(insertStartedSql);
  const insertFinished = database.prepare(insertFinishedSql);
  const updateFinished = database.prepare(updateFinishedSql);
  return (row: RequestStarted | RequestRecord, seq: number | undefined): number => {
    if (!isFinished(row)) return insertStarted.run(...startedValues(row)).lastId;
    if (seq !== undefined) return updateFinished.run(...finishedValues(row), seq).lastId;
    return insertFinished.run(...startedValues(row), ...finishedValues(row)).lastId;
  };
}

function prepareKeyUsesWriter(database: Database) {
  const upsert = database.prepare(
    `INSERT INTO key_uses VALUES (?, ?)
     ON CONFLICT DO UPDATE SET last_used_at = max(last_used_at, excluded.last_used_at)`,
  );
  return (rows: readonly RequestStarted[]): void => {
    const uses = new Map<string, number>();
    for (const row of rows) {
      if (row.keyId !== null) uses.set(row.keyId, Math.max(row.startedAt, uses.get(row.keyId) ?? 0));
    }
    for (const [keyId, at] of uses) upsert.run(keyId, at);
  };
}

function markInterrupted(database: Database, addSums: (sums: UsageSums) => void): number {
  const left = database.prepare('SELECT * FROM requests WHERE outcome IS NULL').all().map(toLedgerRow);
  const mark = database.prepare("UPDATE requests SET outcome = 'interrupted' WHERE seq = ?");
  const sums = new UsageSums();
  for (const row of left) {
    mark.run(row.seq);
    sums.add({ ...row, outcome: 'interrupted' });
  }
  addSums(sums);
  return left.length;
}
