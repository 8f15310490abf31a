import { hourMs } from '../../contract/units.ts';
import type { Database } from './database.ts';

/** Sequence numbers from the oldest request to one past the newest. */
export function wholeRange(database: Database): { low: number; high: number } {
  // A single SELECT of min and max would make SQLite scan the whole table.
  const ends = database
    .prepare('SELECT (SELECT min(seq) FROM requests) AS low, (SELECT max(seq) FROM requests) AS high')
    .get();
  return { low: Number(ends?.low ?? 1), high: Number(ends?.high ?? 0) + 1 };
}

/** How far sequence and time may disagree, because the clock was set back or a request was recorded only at its end. */
export const slackMs = hourMs;

/**
 * The sequence number of the first request that began at `atMs` or later; one past the newest if there is none. A binary
 * search (20 reads in a million rows), since sequence numbers follow time except when the clock was set back.
 */
export function seekSeq(database: Database, atMs: number): number {
  const { low: first, high: end } = wholeRange(database);
  const next = database.prepare('SELECT started_at FROM requests WHERE seq >= ? ORDER BY seq LIMIT 1');
  let low = first;
  let high = end;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (Number(next.get(middle)?.started_at) < atMs) low = middle + 1;
    else high = middle;
  }
  return low;
}
