/**
 * Which requests have which key, model, client and so on, by blocks of 256 requests: the newest requests of a name are found by
 * reading only blocks that contain it. An index of single rows would cost each request several writes at random places; this
 * costs one write for each name and block.
 */
import type { RequestRecord } from '../contract/ledger.ts';
import { number, text } from '../database/columns.ts';
import type { Database } from '../database/database.ts';
import type { BegunRow, EndedRow } from './rows.ts';

export const blockRows = 256;
export const blockOf = (seq: number) => Math.floor(seq / blockRows);

/** What requests can be looked up by. `model`: the requested name and the upstream's. */
export const nameDimensions = [
  'key',
  'group',
  'provider',
  'model',
  'client',
  'capability',
  'status',
  'outcome',
  'error',
] as const;
export type NameDimension = (typeof nameDimensions)[number];

/** Blocks before this one were written before the names were recorded, so each may contain any name. */
export function firstNamedBlock(database: Database): number {
  const from = database.prepare("SELECT value FROM facts WHERE name = 'first named request'").get();
  return Math.ceil((number(from?.value) ?? 0) / blockRows);
}

/** So many blocks are remembered, so that requests that end long after their beginning cost a few statements at most. */
const rememberedBlocks = 32;

export interface NamesWriter {
  startBatch(): void;
  /** Records the names of a row that was written. */
  add(seq: number, row: BegunRow | EndedRow): void;
  /** To be called once the batch's transaction is committed. */
  commitBatch(): void;
}

export function prepareNamesWriter(database: Database): NamesWriter {
  const insert = database.prepare('INSERT OR IGNORE INTO request_names VALUES (?, ?, ?)');
  /** By block, the names that are in the table. */
  const written = new Map<number, Set<string>>();
  let inBatch: [block: number, entry: string][] = [];
  database.onReplaced(() => written.clear());
  return {
    startBatch() {
      for (const [block, entry] of inBatch) written.get(block)?.delete(entry);
      inBatch = [];
    },
    add(seq, row) {
      const block = blockOf(seq);
      const known = written.get(block) ?? remember(written, block);
      for (const [dimension, name] of namesOf(row)) {
        const entry = `${dimension} ${name}`;
        if (known.has(entry)) continue;
        insert.run(dimension, name, block);
        known.add(entry);
        inBatch.push([block, entry]);
      }
    },
    commitBatch() {
      inBatch = [];
    },
  };
}

function remember(written: Map<number, Set<string>>, block: number): Set<string> {
  const known = new Set<string>();
  written.set(block, known);
  const [oldest] = written.keys();
  if (written.size > rememberedBlocks && oldest !== undefined) written.delete(oldest);
  return known;
}

type Named = [dimension: NameDimension, name: string];

function namesOf(row: BegunRow | EndedRow): Named[] {
  const { keyId, groupId, modelAsked, capability } = row;
  const { modelServed, provider, client, status, outcome, errorCode }: Partial<RequestRecord> = row;
  const all: [NameDimension, string | number | null | undefined][] = [
    ['key', keyId],
    ['group', groupId],
    ['model', modelAsked],
    ['capability', capability],
    ['model', modelServed],
    ['provider', provider],
    ['client', client],
    ['status', status],
    ['outcome', outcome],
    ['error', errorCode],
  ];
  return all.flatMap(([dimension, name]) => (name === null || name === undefined ? [] : [[dimension, String(name)]]));
}

/** Bounds the time of a look-up, since clients choose the names of models and of themselves. */
const mostNames = 2_000;

/** The recorded names of a dimension, in alphabetical order. Visits each name once, however many requests have it. */
export function recordedNames(database: Database, dimension: NameDimension, most = mostNames): string[] {
  const next = database.prepare(
    'SELECT name FROM request_names WHERE dimension = ? AND name > ? ORDER BY name LIMIT 1',
  );
  const names: string[] = [];
  let last = '';
  while (names.length < most) {
    const found = text(next.get(dimension, last)?.name);
    if (found === null) break;
    names.push(found);
    last = found;
  }
  return names;
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
