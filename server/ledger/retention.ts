/**
 * Deletes what is older or more than is to be kept, in pieces so small that nothing beside it waits. Clocks are set back
 * and ahead, so what stands in the order of arrival goes from its beginning only, as far as all of it is old: a record is
 * as young as the youngest before it, whatever its own date says.
 */
import { setImmediate } from 'node:timers/promises';
import { usageDimensions } from '../contract/ledger.ts';
import { number } from '../database/columns.ts';
import type { Database, Statement } from '../database/database.ts';
import type { KnownTime, SweepClock } from '../database/sweep-clock.ts';
import { quarterMs } from './usage-cells.ts';

export interface RetentionLimits {
  retentionDays: number;
  retentionRows: number;
  captureRetentionDays: number;
}

export interface Retention {
  /** Deletes all that is due; resolves with the number of requests deleted. */
  sweep(limits: RetentionLimits): Promise<number>;
  stop(): void;
}

const dayMs = 86_400_000;
/** A piece takes 1 to 3 ms. Captures are large: a row of them is many pages. */
const rowsPerPiece = 250;
const capturesPerPiece = 10;

export function createRetention(database: Database, clock: SweepClock): Retention {
  const deleteRequests = database.prepare(
    'DELETE FROM requests WHERE seq < min(?, (SELECT min(seq) FROM requests) + ?)',
  );
  const deleteCells = database.prepare(
    `DELETE FROM usage_cells WHERE (dimension, quarter, name) IN
       (SELECT dimension, quarter, name FROM usage_cells WHERE dimension = ? AND quarter < ? LIMIT ${rowsPerPiece})`,
  );
  const deleteDays = database.prepare(
    `DELETE FROM usage_days WHERE (dimension, day, name) IN
       (SELECT dimension, day, name FROM usage_days WHERE dimension = ? AND day < ? LIMIT ${rowsPerPiece})`,
  );
  const deleteCaptures = database.prepare(
    'DELETE FROM captures WHERE seq < min(?, (SELECT min(seq) FROM captures) + ?)',
  );
  const requestsFrom = database.prepare(
    `SELECT seq, started_at AS at FROM requests WHERE seq >= ? ORDER BY seq LIMIT ${rowsPerPiece}`,
  );
  const capturesFrom = database.prepare(
    `SELECT seq, captured_at AS at FROM captures WHERE seq >= ? ORDER BY seq LIMIT ${rowsPerPiece}`,
  );
  const newest = database.prepare('SELECT max(seq) AS seq FROM requests');
  let stopped = false;

  /** Runs a statement until it finds nothing more to delete, letting everything else have its turn in between. */
  async function deleteInPieces(statement: Statement, ...values: (string | number)[]): Promise<number> {
    let deleted = 0;
    while (!stopped) {
      const { changes } = statement.run(...values);
      if (changes === 0) break;
      deleted += changes;
      await setImmediate();
    }
    return deleted;
  }

  /**
   * One past the last record of which all before it and itself are older than `days`. What is dated later than it is now
   * tells nothing: it goes with the old ones around it, and at the end it stays.
   */
  async function endOfOld(recordsFrom: Statement, days: number, { earliestMs, latestMs }: KnownTime): Promise<number> {
    const oldestAt = earliestMs - days * dayMs;
    let end = 0;
    for (let from = 0; !stopped; await setImmediate()) {
      const records = recordsFrom.all(from).map((row) => ({ seq: Number(row.seq), at: number(row.at) ?? 0 }));
      for (const { seq, at } of records) {
        if (at < oldestAt) end = seq + 1;
        else if (at <= latestMs) return end;
        from = seq + 1;
      }
      if (records.length < rowsPerPiece) break;
    }
    return end;
  }

  return {
    async sweep(limits) {
      const time = clock.read();
      const oldestAt = time.earliestMs - limits.retentionDays * dayMs;
      const lastSeq = Number(newest.get()?.seq ?? 0);
      const oldEnd = await endOfOld(requestsFrom, limits.retentionDays, time);
      const firstKept = Math.max(oldEnd, lastSeq - limits.retentionRows + 1);
      const deleted = await deleteInPieces(deleteRequests, firstKept, rowsPerPiece);
      // Sums are small and outlive their requests if only the number of rows was the reason, but not the days.
      const oldestDay = Math.floor(oldestAt / dayMs);
      for (const dimension of usageDimensions) {
        await deleteInPieces(deleteCells, dimension, Math.floor(oldestAt / quarterMs));
        await deleteInPieces(deleteDays, dimension, oldestDay);
      }
      const capturesEnd = await endOfOld(capturesFrom, limits.captureRetentionDays, time);
      await deleteInPieces(deleteCaptures, capturesEnd, capturesPerPiece);
      return deleted;
    },
    stop() {
      stopped = true;
    },
  };
}
