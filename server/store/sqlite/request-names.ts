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

/** Under this dimension are the hours in which the requests of a block began: see seek.ts. */
export const hourDimension = 'hour';
/** Has ten digits, so that names are in order of time. */
export const hourName = (timeMs: number) => 1_000_000_000 + Math.max(0, Math.floor(timeMs / hourMs));
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
