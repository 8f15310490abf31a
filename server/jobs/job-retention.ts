/** Forgets jobs that nobody has asked for in a long time: services forget theirs too, and a row here is of no use then. */
import { setImmediate } from 'node:timers/promises';
import type { Database } from '../database/database.ts';

const rowsPerPiece = 250;

/**
 * Returns a function that deletes what was last used before a moment, in pieces so small that nothing beside it waits, and
 * stops when the store is closed.
 */
export function prepareJobSweep(
  database: Database,
  isClosed: () => boolean,
): (usedBeforeMs: number) => Promise<number> {
  const deletePiece = database.prepare(
    `DELETE FROM jobs WHERE (kind, group_id, id) IN
       (SELECT kind, group_id, id FROM jobs WHERE last_used_at < ? LIMIT ${rowsPerPiece})`,
  );
  return async (usedBeforeMs) => {
    let deleted = 0;
    while (!isClosed()) {
      const { changes } = deletePiece.run(usedBeforeMs);
      deleted += changes;
      if (changes < rowsPerPiece) break;
      await setImmediate();
    }
    return deleted;
  };
}
