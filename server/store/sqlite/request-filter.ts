/** The conditions of a request filter, in SQL and as the blocks in which its requests can be. */
import type { Operation } from '../../contract/capability.ts';
import {
  type ComparedField,
  type Comparison,
  comparedFields,
  comparisonOf,
  fitsStatus,
} from '../../contract/comparison.ts';
import type { RequestOutcome } from '../../contract/ledger.ts';
import type { Within } from '../../contract/people.ts';
import { errorOutcomes, errors, refused } from '../../contract/request-errors.ts';
import type { SqlValue } from '../rules/columns.ts';
import { rowSql, sqliteNotation } from '../rules/condition-sql.ts';
import type { Database } from './database.ts';
import { blockOf, blockRows, blocksOf, firstNamedBlock, type NameDimension, recordedNames } from './request-names.ts';
import { blocksDuring, type Range, wholeRange } from './seek.ts';
import type { TextIndex } from './text-index.ts';

/** All given conditions must hold. */
export interface RequestConditions {
  keyId?: string;
  groupId?: string;
  /** The requested name or the upstream's. */
  model?: string;
  provider?: string;
  client?: string;
  capability?: Operation;
  /** `failed` and `refused`: as in `contract/request-errors`. */
  outcome?: RequestOutcome | 'running' | 'failed' | 'refused';
  /** `404`, `4xx` for a class, or `>=500`. */
  status?: string;
  /** `>0.05`, in US dollars. */
  cost?: string;
  durationMs?: string;
  firstByteMs?: string;
  tokens?: string;
  /** In ids, names of models, providers and clients, errors, and captured bodies. */
  search?: string;
  sinceMs?: number;
  /** Exclusive. */
  untilMs?: number;
  /** Absent: all requests. */
  within?: Within;
}

export interface Selection {
  /** ` AND …` for each condition. */
  sql: string;
  values: SqlValue[];
  range: Range;
  /** In which its requests can be, newest first; null: in any of the range. */
  blocks: number[] | null;
}

/** What a wanted outcome asks of a row, and the outcomes with which it can be. */
export function outcomeAsked(outcome: RequestConditions['outcome']) {
  if (outcome === undefined || outcome === 'running') return null;
  if (outcome === 'failed') return { outcomes: errorOutcomes, condition: errors };
  if (outcome === 'refused') return { outcomes: ['error'], condition: refused };
  return { outcomes: [outcome], condition: null };
}

export async function select(database: Database, index: TextIndex, filter: RequestConditions): Promise<Selection> {
  const selection = new Selecting(database, wholeRange(database));
  const { keyId, groupId, model, provider, client, capability, outcome, status, search, sinceMs, untilMs } = filter;
  if (filter.within) selection.within(filter.within);
  if (keyId !== undefined) selection.named('key', ['key_id'], [keyId]);
  if (groupId !== undefined) selection.named('group', ['group_id'], [groupId]);
  if (provider !== undefined) selection.named('provider', ['provider'], [provider]);
  if (client !== undefined) selection.named('client', ['client'], [client]);
  if (capability !== undefined) selection.named('capability', ['capability'], [capability]);
  if (model !== undefined) selection.named('model', ['model_asked', 'model_served'], [model]);
  if (status !== undefined) selection.named('status', ['status'], statusesOf(database, status));
  if (outcome === 'running') selection.add('outcome IS NULL');
  const asked = outcomeAsked(outcome);
  if (asked) selection.named('outcome', ['outcome'], asked.outcomes);
  if (asked?.condition) selection.add(rowSql(asked.condition, sqliteNotation));
  if (sinceMs !== undefined || untilMs !== undefined) selection.during(sinceMs, untilMs);
  for (const { field, sign, value } of comparisonsIn(filter))
    selection.add(`(outcome IS NOT NULL AND ${measureColumns[measureOf[field]]} ${sign} ?)`, value);
  if (search !== undefined && search.trim() !== '') selection.searched(search.trim(), await index.find(search));
  return selection;
}

/** The comparisons with numbers that a filter asks for. */
export function comparisonsIn(filter: RequestConditions): (Comparison & { field: ComparedField })[] {
  return comparedFields.flatMap((field) => {
    const condition = filter[field];
    return condition === undefined ? [] : [{ field, ...comparisonOf(condition) }];
  });
}

/** The columns by which requests are compared and sorted. */
export const measureColumns = {
  duration: 'total_ms',
  cost: 'cost_usd',
  'first-byte': 'first_byte_ms',
  tokens: "coalesce(usage ->> '$.inputTokens', 0) + coalesce(usage ->> '$.outputTokens', 0)",
} as const;
export type SortColumn = keyof typeof measureColumns;

/** The name of a compared field among the columns. */
export const measureOf: Record<ComparedField, SortColumn> = {
  cost: 'cost',
  durationMs: 'duration',
  firstByteMs: 'first-byte',
  tokens: 'tokens',
};

function statusesOf(database: Database, status: string): string[] {
  if (/^\d+$/.test(status)) return [status];
  return recordedNames(database, 'status').filter((name) => fitsStatus(Number(name), status));
}

const searchedColumns = {
  model: ['model_asked', 'model_served'],
  provider: ['provider'],
  client: ['client'],
  error: ['error_code'],
};

class Selecting implements Selection {
  sql = '';
  readonly values: SqlValue[] = [];
  readonly range: Range;
  blocks: number[] | null = null;
  readonly #database: Database;

  constructor(database: Database, range: Range) {
    this.#database = database;
    this.range = range;
  }

  add(sql: string, ...values: SqlValue[]): void {
    this.sql += ` AND ${sql}`;
    this.values.push(...values);
  }

  /** One of the columns has one of the names. */
  named(dimension: NameDimension, columns: readonly string[], names: readonly string[]): void {
    const list = JSON.stringify(dimension === 'status' ? names.map(Number) : names);
    const each = columns.map((column) => `${column} IN (SELECT value FROM json_each(?))`);
    this.add(`(${each.join(' OR ')})`, ...columns.map(() => list));
    this.#limitToBlocks(this.#blocksOf(dimension, names));
  }

  during(sinceMs?: number, untilMs?: number): void {
    if (sinceMs !== undefined) this.add('started_at >= ?', sinceMs);
    if (untilMs !== undefined) this.add('started_at < ?', untilMs);
    this.#keepBlocks(blocksDuring(this.#database, { sinceMs, untilMs }));
  }

  /** Matches requests of one of the keys or one of the groups. */
  within({ keyIds, groupIds }: Within): void {
    const isIn = (column: string) => `${column} IN (SELECT value FROM json_each(?))`;
    this.add(`(${isIn('key_id')} OR ${isIn('group_id')})`, JSON.stringify(keyIds), JSON.stringify(groupIds));
    const blocks = [...this.#blocksOf('key', keyIds), ...this.#blocksOf('group', groupIds)];
    this.#limitToBlocks([...new Set(blocks)].sort((one, other) => other - one));
  }

  /** `hits`: requests with a text that contains the search. */
  searched(search: string, hits: readonly number[]): void {
    const parts = [`seq IN (SELECT value FROM json_each(?))`];
    const values: SqlValue[] = [JSON.stringify(hits)];
    const blocks = hits.map(blockOf);
    const times = timesOfId(search);
    if (times) {
      parts.push('id GLOB ?');
      values.push(`${search.toLowerCase()}*`);
      const near = { sinceMs: times.sinceMs - idSlackMs, untilMs: times.untilMs + idSlackMs };
      blocks.push(...blocksDuring(this.#database, near).slice(0, maxIdBlocks));
    }
    for (const [dimension, columns] of Object.entries(searchedColumns) as [NameDimension, string[]][]) {
      const names = recordedNames(this.#database, dimension).filter((name) => containsText(name, search));
      if (names.length === 0) continue;
      for (const column of columns) {
        parts.push(`${column} IN (SELECT value FROM json_each(?))`);
        values.push(JSON.stringify(names));
      }
      blocks.push(...this.#blocksOf(dimension, names));
    }
    this.add(`(${parts.join(' OR ')})`, ...values);
    this.#limitToBlocks([...new Set(blocks)].sort((one, other) => other - one));
  }

  #blocksOf(dimension: NameDimension, names: readonly string[]): number[] {
    const { low, high } = this.#blockRange;
    return blocksOf(this.#database, dimension, names, { low, high });
  }

  get #blockRange(): Range {
    return { low: blockOf(this.range.low), high: blockOf(this.range.high - 1) + 1 };
  }

  /** Blocks without recorded names stay in any case. */
  #limitToBlocks(blocks: readonly number[]): void {
    const { low, high } = this.#blockRange;
    const unnamed = Math.min(firstNamedBlock(this.#database), high);
    const recorded = blocks.filter((block) => block >= unnamed && block < high);
    this.#keepBlocks([
      ...recorded,
      ...Array.from({ length: Math.max(0, unnamed - low) }, (_, index) => unnamed - 1 - index),
    ]);
  }

  #keepBlocks(blocks: readonly number[]): void {
    const previousBlocks = this.blocks && new Set(this.blocks);
    this.blocks = blocks.filter((block) => previousBlocks?.has(block) ?? true);
  }
}

/** `rate limit` is in `rate_limit_exceeded`. */
const plainText = (text: string) => text.toLowerCase().replaceAll(/[_\s-]+/g, ' ');
/** Whether a name contains a search, whatever separates its words. */
export const containsText = (name: string, search: string) => plainText(name).includes(plainText(search));

/** An id contains the time of its request; the row may have been inserted a little earlier or later. */
const idSlackMs = 60_000;
/** A short beginning of an id matches years; only its newest blocks are searched. */
const maxIdBlocks = 400;
const timeDigits = 12;

interface IdTimes {
  sinceMs: number;
  untilMs: number;
}

/** The times that an id with this beginning can contain; null if it is none. */
export function timesOfId(search: string): IdTimes | null {
  const [, digits] = /^req_([0-9a-f]{1,32})$/i.exec(search) ?? [];
  if (digits === undefined) return null;
  const time = digits.slice(0, timeDigits);
  return {
    sinceMs: Number.parseInt(time.padEnd(timeDigits, '0'), 16),
    untilMs: Number.parseInt(time.padEnd(timeDigits, 'f'), 16),
  };
}

/** Ranges of about `rows` requests each, newest first, that together contain the selection. */
export function* piecesOf({ range, blocks }: Pick<Selection, 'range' | 'blocks'>, rows: number): Generator<Range> {
  if (!blocks) {
    for (let { high } = range; high > range.low; high -= rows) yield { low: Math.max(range.low, high - rows), high };
    return;
  }
  for (let index = 0; index < blocks.length; ) {
    const first = blocks[index] ?? 0;
    let last = first;
    index += 1;
    while (blocks[index] === last - 1 && (first - last + 2) * blockRows <= rows) {
      last -= 1;
      index += 1;
    }
    const low = Math.max(range.low, last * blockRows);
    const high = Math.min(range.high, (first + 1) * blockRows);
    if (low < high) yield { low, high };
  }
}
