/**
 * Deletes expired rows in small batches that do not delay requests. Since the system clock may be wrong, rows are deleted
 * from the beginning only, in order of arrival: a row counts as no older than any row before it, whatever its timestamp.
 */

import { setImmediate } from 'node:timers/promises';
import { usageDimensions } from '../../contract/ledger.ts';
import { dayMs, quarterMs } from '../../contract/units.ts';
import { number } from '../rules/columns.ts';
import type { Database, Statement } from './database.ts';
import { blockOf, eachName, recordedDimensions } from './request-names.ts';

export interface RetentionLimits {
  retentionDays: number;
  retentionRows: number;
  captureRetentionDays: number;
  /** For all captures: see capture-room.ts. */
  captureBytes: number;
}

export interface Retention {
  /** Deletes all expired rows; resolves with the number of deleted requests. */
  sweep(limits: RetentionLimits): Promise<number>;
  stop(): void;
}

/** A batch takes 1 to 3 ms; captures are large, so their batches are smaller. */
const rowsPerBatch = 250;
const capturesPerBatch = 10;

function prepareStatements(database: Database) {
  return {
    deleteRequests: database.prepare('DELETE FROM requests WHERE seq < min(?, (SELECT min(seq) FROM requests) + ?)'),
    deleteCells: database.prepare(
      `DELETE FROM usage_cells WHERE (dimension, quarter, name) IN
       (SELECT dimension, quarter, name FROM usage_cells WHERE dimension = ? AND quarter < ? LIMIT ${rowsPerBatch})`,
    ),
    deleteDays: database.prepare(
      `DELETE FROM usage_days WHERE (dimension, day, name) IN
       (SELECT dimension, day, name FROM usage_days WHERE dimension = ? AND day < ? LIMIT ${rowsPerBatch})`,
    ),
    deleteErrors: database.prepare(
      `DELETE FROM error_text WHERE rowid IN
       (SELECT id FROM error_text_docsize WHERE id < (SELECT min(seq) FROM requests) ORDER BY id LIMIT ${rowsPerBatch})`,
    ),
    deleteNames: database.prepare('DELETE FROM request_names WHERE dimension = ? AND name = ? AND block < ?'),
    deleteSessions: database.prepare(
      `DELETE FROM sessions WHERE id IN
       (SELECT id FROM sessions WHERE last_seq < (SELECT min(seq) FROM requests) LIMIT ${rowsPerBatch})`,
    ),
    oldest: database.prepare('SELECT min(seq) AS seq FROM requests'),
    deleteCaptures: database.prepare('DELETE FROM captures WHERE seq < min(?, (SELECT min(seq) FROM captures) + ?)'),
    requestsFrom: database.prepare(
      `SELECT seq, started_at AS at FROM requests WHERE seq >= ? ORDER BY seq LIMIT ${rowsPerBatch}`,
    ),
    capturesFrom: database.prepare(
      `SELECT seq, captured_at AS at FROM captures WHERE seq >= ? ORDER BY seq LIMIT ${rowsPerBatch}`,
    ),
    newest: database.prepare('SELECT max(seq) AS seq FROM requests'),
  };
}

export function createRetention(database: Database, clock: SweepClock): Retention {
  const statements = prepareStatements(database);
  let isStopped = false;

  /** Runs a statement until nothing is left to delete, yielding to the event loop between batches. */
  async function deleteInBatches(statement: Statement, ...values: (string | number)[]): Promise<number> {
    let deleted = 0;
    while (!isStopped) {
      const { changes } = statement.run(...values);
      if (changes === 0) break;
      deleted += changes;
      await setImmediate();
    }
    return deleted;
  }

  /**
   * One past the last row of the leading run of rows older than `days`. Rows dated in the future do not end the run,
   * but are kept if they are at its end.
   */
  async function endOfOld(recordsFrom: Statement, days: number, { earliestMs, latestMs }: KnownTime): Promise<number> {
    const oldestAt = earliestMs - days * dayMs;
    let end = 0;
    for (let from = 0; !isStopped; await setImmediate()) {
      const records = recordsFrom.all(from).map((row) => ({ seq: Number(row.seq), at: number(row.at) ?? 0 }));
      for (const { seq, at } of records) {
        if (at < oldestAt) end = seq + 1;
        else if (at <= latestMs) return end;
        from = seq + 1;
      }
      if (records.length < rowsPerBatch) break;
    }
    return end;
  }

  /** Deletes the names of blocks whose requests have all been deleted. */
  async function deleteNames(): Promise<void> {
    const oldestBlock = blockOf(Number(statements.oldest.get()?.seq ?? 0));
    for (const dimension of recordedDimensions) {
      for (const name of eachName(database, dimension)) {
        if (isStopped) return;
        statements.deleteNames.run(dimension, name, oldestBlock);
        await setImmediate();
      }
    }
  }

  return {
    async sweep(limits) {
      const time = clock.read();
      const oldestAt = time.earliestMs - limits.retentionDays * dayMs;
      const lastSeq = Number(statements.newest.get()?.seq ?? 0);
      const oldEnd = await endOfOld(statements.requestsFrom, limits.retentionDays, time);
      const firstKept = Math.max(oldEnd, lastSeq - limits.retentionRows + 1);
      const deleted = await deleteInBatches(statements.deleteRequests, firstKept, rowsPerBatch);
      await deleteInBatches(statements.deleteErrors);
      await deleteInBatches(statements.deleteSessions);
      await deleteNames();
      // Totals are small, so they expire by age but are not limited in number.
      const oldestDay = Math.floor(oldestAt / dayMs);
      for (const dimension of usageDimensions) {
        await deleteInBatches(statements.deleteCells, dimension, Math.floor(oldestAt / quarterMs));
        await deleteInBatches(statements.deleteDays, dimension, oldestDay);
      }
      const capturesEnd = await endOfOld(statements.capturesFrom, limits.captureRetentionDays, time);
      await deleteInBatches(statements.deleteCaptures, capturesEnd, capturesPerBatch);
      return deleted;
    },
    stop() {
      isStopped = true;
    },
  };
}

// The time by which records expire. The wall clock alone is not safe: if it were a year ahead for a minute, everything
// would be deleted. Therefore a time stored in the database follows the wall clock at a bounded speed. A wrong clock
// moves it only a little, and after a long downtime it catches up within hours, during which records are kept longer
// than necessary.

/** The bounds of the true time, in Unix milliseconds. */
interface KnownTime {
  /** Determines a record's minimum age. */
  earliestMs: number;
  /** Records with a later date were written while the clock was ahead. */
  latestMs: number;
}

export interface SweepClock {
  /** Throws if the database cannot be read at present. */
  read(): KnownTime;
  /** The time to record as a last use, so that a clock that is behind does not age it. Unix milliseconds. */
  latestMs(): number;
}

interface ClockSources {
  wallMs(): number;
  /** A monotonic clock, in milliseconds. */
  steadyMs(): number;
}

/** One day in 15 minutes. */
const catchUpSpeed = 96;

export function createSweepClock(database: Database, sources: Partial<ClockSources> = {}): SweepClock {
  const { wallMs = Date.now, steadyMs = () => performance.now() } = sources;
  const selectKnownTime = database.prepare("SELECT value FROM facts WHERE name = 'known time'");
  const storeKnownTime = database.prepare("INSERT OR REPLACE INTO facts VALUES ('known time', ?)");
  const newest = database.prepare('SELECT started_at FROM requests ORDER BY seq DESC LIMIT 1');
  let readAtMs = steadyMs();
  /** Null if it must be read from the database, which may have been replaced. */
  let knownMs: number | null = null;
  database.onReplaced(() => {
    knownMs = null;
  });

  function read(): KnownTime {
    const nowMs = wallMs();
    // A ledger of an older version has only the last request's time.
    knownMs ??= number(selectKnownTime.get()?.value) ?? number(newest.get()?.started_at) ?? nowMs;
    const mayBe = knownMs + (steadyMs() - readAtMs) * catchUpSpeed;
    readAtMs = steadyMs();
    knownMs = Math.max(knownMs, Math.min(nowMs, mayBe));
    storeKnownTime.run(knownMs);
    return { earliestMs: Math.min(nowMs, knownMs), latestMs: Math.max(nowMs, knownMs) };
  }

  try {
    // Read before the first request of this run, whose time may be wrong.
    read();
  } catch {
    // Retried with the first sweep.
  }
  return { read, latestMs: () => Math.max(wallMs(), knownMs ?? 0) };
}
