/** Deletes what is older or more than is to be kept, in pieces so small that nothing beside it waits. */
import { setImmediate } from 'node:timers/promises';
import { usageDimensions } from '../contract/ledger.ts';
import type { Database, Statement } from '../database/database.ts';
import { seekSeq } from './seek.ts';
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

export function createRetention(database: Database, now: () => number): Retention {
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
    `DELETE FROM captures WHERE seq IN
       (SELECT seq FROM (SELECT seq, captured_at FROM captures ORDER BY seq LIMIT ${capturesPerPiece})
        WHERE captured_at < ?)`,
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

  return {
    async sweep(limits) {
      const oldestAt = now() - limits.retentionDays * dayMs;
      const lastSeq = Number(newest.get()?.seq ?? 0);
      const firstKept = Math.max(seekSeq(database, oldestAt), lastSeq - limits.retentionRows + 1);
      const deleted = await deleteInPieces(deleteRequests, firstKept, rowsPerPiece);
      // Sums are small and outlive their requests if only the number of rows was the reason, but not the days.
      const oldestDay = Math.floor(oldestAt / dayMs);
      for (const dimension of usageDimensions) {
        await deleteInPieces(deleteCells, dimension, Math.floor(oldestAt / quarterMs));
        await deleteInPieces(deleteDays, dimension, oldestDay);
      }
      await deleteInPieces(deleteCaptures, now() - limits.captureRetentionDays * dayMs);
      return deleted;
    },
    stop() {
      stopped = true;
    },
  };
}
