/**
 * Which requests have which key, model, client and so on, by blocks of 256 requests: the newest requests of a name are found by
 * reading only blocks that contain it. An index of single rows would cost each request several writes at random places; this
 * costs one write for each name and block.
 */
import type { RequestView } from '../../contract/request-views.ts';
import { hourMs } from '../../contract/units.ts';
import { number, text } from '../rules/columns.ts';
import { type NameDimension, nameDimensions } from '../rules/request-conditions.ts';
import type { BegunRow, EndedRow } from '../rules/rows.ts';
import type { Database, Statement } from './database.ts';

export const blockRows = 256;
export const blockOf = (seq: number) => Math.floor(seq / blockRows);

/** Under this dimension are the hours in which the requests of a block began. */
const hourDimension = 'hour';
/** Has ten digits, so that names are in order of time. */
const hourName = (timeMs: number) => 1_000_000_000 + Math.max(0, Math.floor(timeMs / hourMs));
/** All that is recorded. */
export const recordedDimensions = [...nameDimensions, hourDimension] as const;
type RecordedDimension = (typeof recordedDimensions)[number];

/** Blocks before this one were written before the names were recorded, so each may contain any name. */
export function firstNamedBlock(database: Database): number {
  const from = database.prepare("SELECT value FROM facts WHERE name = 'first named request'").get();
  return Math.ceil((number(from?.value) ?? 0) / blockRows);
}

type Name = string | number | null | undefined;

/** The names of one block that are in the table. */
interface Known {
  block: number;
  names: Record<RecordedDimension, Set<Name>>;
}

/** Number of blocks kept in memory, so that requests that end long after their beginning cost only a few statements. */
const rememberedBlocks = 32;

/** Records the names of written rows. Called for each request, so it allocates nothing for names that are known. */
export class NamesWriter {
  readonly #insert: Statement;
  readonly #namesByBlock = new Map<number, Known>();
  /** Names that the present batch has recorded. */
  #inBatch: [known: Set<Name>, name: Name][] = [];

  constructor(database: Database) {
    this.#insert = database.prepare('INSERT OR IGNORE INTO request_names VALUES (?, ?, ?)');
    database.onReplaced(() => this.#namesByBlock.clear());
  }

  /** Discards names of an earlier batch that was not committed. */
  startBatch(): void {
    for (const [recorded, name] of this.#inBatch) recorded.delete(name);
    this.#inBatch = [];
  }

  commitBatch(): void {
    this.#inBatch = [];
  }

  add(seq: number, row: BegunRow | EndedRow | RequestView): void {
    const block = blockOf(seq);
    const blockNames = this.#namesByBlock.get(block) ?? this.#remember(block);
    this.#note(blockNames, hourDimension, hourName(row.startedAt));
    this.#note(blockNames, 'key', row.keyId);
    this.#note(blockNames, 'group', row.groupId);
    this.#note(blockNames, 'model', row.modelAsked);
    this.#note(blockNames, 'capability', row.capability);
    if (!('outcome' in row)) return;
    this.#note(blockNames, 'model', row.modelServed);
    this.#note(blockNames, 'provider', row.provider);
    this.#note(blockNames, 'client', row.client);
    this.#note(blockNames, 'status', row.status);
    this.#note(blockNames, 'outcome', row.outcome);
    this.#note(blockNames, 'error', row.errorCode);
  }

  #note({ block, names }: Known, dimension: RecordedDimension, name: Name): void {
    const recorded = names[dimension];
    if (name === null || name === undefined || recorded.has(name)) return;
    this.#insert.run(dimension, String(name), block);
    recorded.add(name);
    this.#inBatch.push([recorded, name]);
  }

  #remember(block: number): Known {
    const names = Object.fromEntries(recordedDimensions.map((dimension) => [dimension, new Set()])) as Known['names'];
    const blockNames = { block, names };
    this.#namesByBlock.set(block, blockNames);
    const [oldest] = this.#namesByBlock.keys();
    if (this.#namesByBlock.size > rememberedBlocks && oldest !== undefined) this.#namesByBlock.delete(oldest);
    return blockNames;
  }
}

/** Limits the duration of a look-up, because clients choose the names of models and of themselves. */
const maxNames = 2_000;

/** The first recorded names of a dimension, in alphabetical order. */
export function recordedNames(database: Database, dimension: NameDimension): string[] {
  const names: string[] = [];
  for (const name of eachName(database, dimension)) if (names.push(name) === maxNames) break;
  return names;
}

/**
 * All recorded names of a dimension, in alphabetical order. Visits each once, however many requests have it. Includes those of
 * requests that are not repaired yet (repair.ts).
 */
export function* eachName(database: Database, dimension: RecordedDimension): Generator<string, void> {
  const least = (comparison: '>=' | '>') => {
    const leastIn = (table: string) =>
      `SELECT name FROM (SELECT name FROM ${table} WHERE dimension = ? AND name ${comparison} ? ORDER BY name LIMIT 1)`;
    return database.prepare(
      `SELECT min(name) AS name FROM (${leastIn('request_names')} UNION ALL ${leastIn('earlier_names')})`,
    );
  };
  const next = least('>');
  // A client may also send an empty name.
  let name = text(least('>=').get(dimension, '', dimension, '')?.name);
  while (name !== null) {
    yield name;
    name = text(next.get(dimension, name, dimension, name)?.name);
  }
}

/** Blocks in [low, high) that contain one of the names, newest first. */
export function blocksOf(
  database: Database,
  dimension: NameDimension,
  names: readonly string[],
  { low, high }: { low: number; high: number },
): number[] {
  const rows = database
    .prepare(
      `SELECT DISTINCT block FROM request_names WHERE dimension = ? AND name IN (SELECT value FROM json_each(?))
       AND block >= ? AND block < ? ORDER BY block DESC`,
    )
    .all(dimension, JSON.stringify(names), low, high);
  return rows.map((row) => Number(row.block));
}

// Where in the ledger the requests of a time are.

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

/** The blocks with those around the requests of a time before the others: where they are, unless a clock was set. */
export function nearestFirst(database: Database, blocks: readonly number[], atMs: number): number[] {
  const nearest = blockOf(seekIn(database, wholeRange(database), atMs));
  const [near = [], far = []] = [true, false].map((isNear) =>
    blocks.filter((block) => Math.abs(block - nearest) <= 1 === isNear),
  );
  return [...near, ...far];
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
