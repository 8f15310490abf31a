/** Where in the ledger the requests of a time are. */
import { hourMs } from '../../contract/units.ts';
import { number } from '../rules/columns.ts';
import type { Database } from './database.ts';
import { blockOf, blockRows, hourDimension, hourName } from './request-names.ts';

/** Sequence numbers from `low` to `high`, exclusive. */
export interface Range {
  low: number;
  high: number;
}

/** Unix milliseconds; `untilMs` is exclusive. */
interface Times {
  sinceMs?: number | undefined;
  untilMs?: number | undefined;
}

/** Sequence numbers from the oldest request to one past the newest. */
export function wholeRange(database: Database): Range {
  // A single SELECT of min and max would make SQLite scan the whole table.
  const ends = database
    .prepare('SELECT (SELECT min(seq) FROM requests) AS low, (SELECT max(seq) FROM requests) AS high')
    .get();
  return { low: Number(ends?.low ?? 1), high: Number(ends?.high ?? 0) + 1 };
}

/**
 * The blocks in which requests of this time can be, newest first. Sequence numbers follow the time of arrival, which is not
 * that of the beginning: a clock is set back, or a request is recorded long after it began.
 */
export function blocksDuring(database: Database, { sinceMs = 0, untilMs = Number.MAX_SAFE_INTEGER }: Times): number[] {
  const { low, high } = wholeRange(database);
  const untimed = untimedBlocks(database);
  const names = [hourName(sinceMs), hourName(untilMs)].map(String);
  const recorded = database
    .prepare(
      `SELECT DISTINCT block FROM request_names WHERE dimension = '${hourDimension}' AND name BETWEEN ? AND ?
       AND block >= ? ORDER BY block DESC`,
    )
    .all(...names, Math.max(blockOf(low), untimed));
  const blocks = recorded.map(({ block }) => Number(block));
  const range = { low, high: Math.min(untimed * blockRows, high) };
  if (range.low >= range.high) return blocks;
  const first = blockOf(seekIn(database, range, sinceMs - slackMs));
  const last = Math.min(blockOf(seekIn(database, range, untilMs + slackMs)), untimed - 1);
  return [...blocks, ...Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => last - index)];
}

/** The lowest sequence number of a request that began at `sinceMs` or later; infinite if there is none. */
export function firstSince(database: Database, sinceMs: number): number {
  const first = database.prepare('SELECT min(seq) AS seq FROM requests WHERE seq >= ? AND seq < ? AND started_at >= ?');
  for (const block of blocksDuring(database, { sinceMs }).reverse()) {
    const seq = number(first.get(block * blockRows, (block + 1) * blockRows, sinceMs)?.seq);
    if (seq !== null) return seq;
  }
  return Number.MAX_SAFE_INTEGER;
}

/** Blocks before this one were written before their hours were recorded. */
function untimedBlocks(database: Database): number {
  const last = database.prepare("SELECT value FROM facts WHERE name = 'last untimed request'").get();
  return last ? blockOf(Number(last.value)) + 1 : 0;
}

/** How far sequence and time are taken to disagree in blocks without hours. */
const slackMs = hourMs;

/**
 * The sequence number of the first request of the range that began at `atMs` or later, or the range's end. A binary search,
 * which requests that are far out of order mislead.
 */
function seekIn(database: Database, range: Range, atMs: number): number {
  const next = database.prepare('SELECT started_at FROM requests WHERE seq >= ? ORDER BY seq LIMIT 1');
  let { low, high } = range;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (Number(next.get(middle)?.started_at) < atMs) low = middle + 1;
    else high = middle;
  }
  return low;
}
