/** Writes a batch in one transaction: requests, usage totals, last uses of keys, captures. */
import type { RequestStarted } from '../../contract/ledger.ts';
import {
  type BegunRow,
  type EndedRow,
  finishedValues,
  insertFinishedSql,
  insertStartedSql,
  reservedValues,
  startedValues,
  toLedgerRow,
  updateFinishedSql,
} from '../rules/rows.ts';
import { searchableText } from '../rules/searchable-text.ts';
import { storableRow } from '../rules/storable-row.ts';
import { type Capture, prepareCaptureWriter } from './capture-rows.ts';
import type { Database } from './database.ts';
import { NamesWriter } from './request-names.ts';
import {
  type Batch,
  type JoinedRequest,
  prepareJoiner,
  prepareSessionsWriter,
  RecentBatches,
  SessionUses,
} from './session-rows.ts';
import { prepareSumsWriter, type UsageDays, UsageSums } from './usage-cells.ts';

export interface LedgerWriter {
  /**
   * Writes the whole batch, or throws and writes nothing. Skips and returns those rows of requests that have only begun that
   * may wait.
   */
  write(
    requests: readonly (BegunRow | EndedRow)[],
    captures: readonly Capture[],
    mayWait: (row: BegunRow) => boolean,
  ): BegunRow[];
  /** Adds a recorded request to its session. False if it is not written yet. */
  join(joined: JoinedRequest): boolean;
  /** Marks requests that an earlier run left unfinished. Returns their number. */
  markInterrupted(): number;
}

export const isFinished = (row: BegunRow | EndedRow): row is EndedRow => 'outcome' in row;
export const isOnlyCounted = (row: BegunRow | EndedRow): row is EndedRow =>
  isFinished(row) && row.isOnlyCounted === true;

/**
 * The rows of a batch as every store can hold them. Requests that began and ended within the batch become one row, in order of
 * their beginning.
 */
export function rowsToWrite(rows: readonly (BegunRow | EndedRow)[]): (BegunRow | EndedRow)[] {
  const latest = new Map<string, BegunRow | EndedRow>();
  for (const row of rows) {
    const storable = storableRow(row);
    latest.set(storable.id, storable);
  }
  return [...latest.values()];
}

/** `captureWritten` is called after captures were written. */
export function createLedgerWriter(
  database: Database,
  days: Pick<UsageDays, 'isRolledUp'>,
  captureWritten: () => void = () => {},
): LedgerWriter {
  const addSums = prepareSumsWriter(database, days.isRolledUp);
  const addKeyUses = prepareKeyUsesWriter(database);
  const addSessions = prepareSessionsWriter(database);
  const writeRequest = prepareRequestWriter(database);
  const names = new NamesWriter(database);
  const addErrors = database.prepare('INSERT INTO error_text (rowid, text) VALUES (?, ?)');
  const addCapture = prepareCaptureWriter(database);
  // In the same transaction as its usage, so that a job is counted exactly once even after a crash.
  const settleJob = database.prepare('UPDATE jobs SET owed = NULL WHERE kind = ? AND group_id = ? AND id = ?');
  const { running, captured } = rememberedSeqs(database);
  const alone = new RecentBatches();
  database.onReplaced(() => alone.clear());

  return {
    write(given, captures, mayWait) {
      const rows = rowsToWrite(given);
      const deferred: BegunRow[] = [];
      const begunSeqs = new Map<string, number>();
      const capturedSeqs = new Map<string, number>();
      let aloneBatch: Batch | null = null;
      const hasCapture = new Set(captures.map(({ id }) => id));
      names.startBatch();
      database.transaction(() => {
        const sums = new UsageSums();
        const sessions = new SessionUses();
        for (const row of rows) {
          if (!isFinished(row) && !hasCapture.has(row.id) && mayWait(row)) {
            deferred.push(row);
            continue;
          }
          if (isOnlyCounted(row)) {
            sums.add(row);
            continue;
          }
          const seq = writeRequest(row, running.get(row.id));
          names.add(seq, row);
          sessions.add(seq, row);
          if (isFinished(row)) {
            sums.add(row);
            const errors = errorsOf(row);
            if (errors !== '') addErrors.run(seq, errors);
            if (row.captured !== null) capturedSeqs.set(row.id, seq);
            if (row.session === null) aloneBatch = RecentBatches.extended(aloneBatch, seq, row.startedAt);
            if (row.books) settleJob.run(row.books.kind, row.books.groupId, row.books.id);
          } else begunSeqs.set(row.id, seq);
        }
        addSums(sums);
        addKeyUses(rows);
        addSessions(sessions);
        for (const capture of captures) {
          const { id } = capture;
          addCapture(capture, capturedSeqs.get(id) ?? captured.get(id) ?? begunSeqs.get(id) ?? running.get(id) ?? null);
        }
      });
      // Only after the commit.
      names.commitBatch();
      if (captures.length > 0) captureWritten();
      for (const row of rows) if (isFinished(row)) running.delete(row.id);
      for (const [id, seq] of begunSeqs) running.set(id, seq);
      // A batch that is refused must leave none of these behind.
      for (const [id, seq] of capturedSeqs) captured.set(id, seq);
      if (aloneBatch) alone.add(aloneBatch);
      forgetOldest(captured);
      return deferred;
    },
    join: prepareJoiner(database, { running, alone }),
    markInterrupted: () => database.transaction(() => markInterrupted(database, addSums, names)),
  };
}

/** The `seq` of rows, by request id. */
function rememberedSeqs(database: Database) {
  const seqs = {
    running: new Map<string, number>(),
    /** Captured requests that have ended: a capture may be written after its request. */
    captured: new Map<string, number>(),
  };
  // A replacement file does not contain them.
  database.onReplaced(() => {
    for (const each of Object.values(seqs)) each.clear();
  });
  return seqs;
}

/** More than can wait to be written. */
const rememberedCaptured = 1_000;

function forgetOldest(seqs: Map<string, number>): void {
  for (const id of seqs.keys()) {
    if (seqs.size <= rememberedCaptured) return;
    seqs.delete(id);
  }
}

/** Error messages of the attempts, for searching. */
export function errorsOf({ attempts }: Pick<EndedRow, 'attempts'>): string {
  if (attempts.every(({ error }) => error === null)) return '';
  return searchableText([...new Set(attempts.map(({ error }) => error ?? ''))].join(' '));
}

/** Returns a function that inserts or updates a request's row and returns its `seq`. */
function prepareRequestWriter(database: Database) {
  const started = database.prepareInsert(insertStartedSql);
  const finished = database.prepareInsert(insertFinishedSql);
  const updateFinished = database.prepare(updateFinishedSql);
  return (row: BegunRow | EndedRow, seq: number | undefined): number => {
    // Two spread arrays in one call would be copied value by value.
    if (!isFinished(row)) return started.insert(...startedValues(row).concat(reservedValues(row)));
    if (seq === undefined) return finished.insert(...startedValues(row).concat(finishedValues(row)));
    updateFinished.run(...finishedValues(row), seq);
    return seq;
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

function markInterrupted(database: Database, addSums: (sums: UsageSums) => void, names: NamesWriter): number {
  const markAll = database.prepare("UPDATE requests SET outcome = 'interrupted' WHERE outcome IS NULL RETURNING *");
  const interruptedRows = markAll.all().map(toLedgerRow);
  const addCost = database.prepare('UPDATE sessions SET cost_usd = cost_usd + ? WHERE id = ?');
  const sums = new UsageSums();
  names.startBatch();
  for (const row of interruptedRows) {
    const ended = storableRow({ ...row, outcome: 'interrupted', totalMs: row.totalMs ?? 0 } as const);
    sums.add(ended);
    if (row.session !== null && ended.costUsd !== null) addCost.run(ended.costUsd, row.session.id);
    names.add(row.seq, ended);
  }
  addSums(sums);
  return interruptedRows.length;
}
