import type { Database } from '../database/database.ts';

/** The places that are taken: from the oldest request to one past the newest. */
export function wholeRange(database: Database): { low: number; high: number } {
  // In one SELECT without the inner ones SQLite would read the whole table.
  const ends = database
    .prepare('SELECT (SELECT min(seq) FROM requests) AS low, (SELECT max(seq) FROM requests) AS high')
    .get();
  return { low: Number(ends?.low ?? 1), high: Number(ends?.high ?? 0) + 1 };
}

/**
 * The place in the ledger from which on requests began at `atMs` or later: one past the newest if there are none.
 * Places follow time, but for a clock that was set back, so this needs no index: some twenty reads at a million rows.
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
