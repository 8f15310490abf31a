/** Deletes jobs that were not used for a long time. The services also delete theirs. */
import { setImmediate } from 'node:timers/promises';
import type { Database } from './database.ts';

const rowsPerBatch = 250;

/** Returns a function that deletes jobs last used before a time, in small batches, until the store is closed. */
export function prepareJobSweep(
  database: Database,
  isClosed: () => boolean,
): (usedBeforeMs: number) => Promise<number> {
  const deleteBatch = database.prepare(
    `DELETE FROM jobs WHERE (kind, group_id, id) IN
       (SELECT kind, group_id, id FROM jobs WHERE last_used_at < ? LIMIT ${rowsPerBatch})`,
  );
  return async (usedBeforeMs) => {
    let deleted = 0;
    while (!isClosed()) {
      const { changes } = deleteBatch.run(usedBeforeMs);
      deleted += changes;
      if (changes < rowsPerBatch) break;
      await setImmediate();
    }
    return deleted;
  };
}
