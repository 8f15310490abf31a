/** Where the requests of a filter can be, and their condition in SQLite's SQL. */

import type { PinnedRequest } from '../../contract/pins.ts';
import type { PinChange, PinView } from '../../contract/request-views.ts';
import type { PinnedCapture, PinStore } from '../ports/kept-stores.ts';
import { number, type Row, text } from '../rules/columns.ts';
import { allOf, anyOf, isAmong, type Sql } from '../rules/condition-sql.ts';
import { isTemporary, unreadable } from '../rules/failures.ts';
import {
  type AskedCondition,
  conditionsOf,
  type FoundRequest,
  idFound,
  namesFound,
  notesFound,
  type RequestConditions,
} from '../rules/request-conditions.ts';
import { storableText } from '../rules/storable-row.ts';
import type { Database } from './database.ts';
import {
  blockOf,
  blockRows,
  blocksDuring,
  blocksOf,
  firstNamedBlock,
  type Range,
  recordedNames,
  wholeRange,
} from './request-names.ts';
import type { TextIndex } from './text-index.ts';

export interface Selection {
  condition: Sql;
  /** Without a condition. */
  isWhole: boolean;
  range: Range;
  /** In which its requests can be, newest first; null: in any of the range. */
  blocks: number[] | null;
}

export async function select(database: Database, index: TextIndex, filter: RequestConditions): Promise<Selection> {
  const places = new Places(database);
  const asked = conditionsOf(filter);
  for (const { names, times } of asked) {
    if (names) places.limitToNames(names);
    if (times) places.keep(blocksDuring(database, times));
  }
  const conditions = asked.map(({ condition }) => condition);
  const search = filter.search?.trim() ?? '';
  if (search !== '') {
    const hits = { indexed: await index.find(search), elsewhere: filter.foundElsewhere ?? [] };
    conditions.push(searched(search, hits, places));
  }
  const { range, blocks } = places;
  return { condition: allOf(conditions), isWhole: conditions.length === 0, range, blocks };
}

/** A short beginning of an id matches years; only its newest blocks are searched. */
const maxIdBlocks = 400;

/** Requests with a text that contains the search. */
interface Hits {
  /** Their sequence numbers. */
  indexed: readonly number[];
  elsewhere: readonly FoundRequest[];
}

function searched(search: string, { indexed, elsewhere }: Hits, places: Places): Sql {
  const { database } = places;
  const ofId = idFound(search);
  const ofNames = namesFound(search, {
    model: recordedNames(database, 'model'),
    provider: recordedNames(database, 'provider'),
    client: recordedNames(database, 'client'),
    error: recordedNames(database, 'error'),
  });
  const byId = [...notesFound(search, database.prepare(notedPins).all()), ...elsewhere];
  places.limitTo([
    ...indexed.map(blockOf),
    ...(ofId ? blocksDuring(database, ofId.times).slice(0, maxIdBlocks) : []),
    ...ofNames.flatMap(({ names = [] }) => places.ofNames(names)),
    ...byId.flatMap(({ startedAt }) => blocksDuring(database, { sinceMs: startedAt, untilMs: startedAt })),
  ]);
  const found = [...(ofId ? [ofId] : []), ...ofNames].map(({ condition }) => condition);
  return anyOf([
    isAmong('seq', indexed),
    isAmong(
      'id',
      byId.map(({ id }) => id),
    ),
    ...found,
  ]);
}

/** The blocks in which the requests of all conditions can be. */
class Places {
  readonly database: Database;
  readonly range: Range;
  blocks: number[] | null = null;

  constructor(database: Database) {
    this.database = database;
    this.range = wholeRange(database);
  }

  /** Each request has one of the names. */
  limitToNames(names: NonNullable<AskedCondition['names']>): void {
    this.limitTo(this.ofNames(names));
  }

  /** The blocks in which one of the names is recorded. */
  ofNames(asked: NonNullable<AskedCondition['names']>): number[] {
    return asked.flatMap(({ dimension, names }) => {
      const list = typeof names === 'function' ? recordedNames(this.database, dimension).filter(names) : names;
      return blocksOf(this.database, dimension, list, this.#blockRange);
    });
  }

  /** Blocks without recorded names stay in any case. */
  limitTo(blocks: readonly number[]): void {
    const { low, high } = this.#blockRange;
    const unnamed = Math.min(firstNamedBlock(this.database), high);
    const recorded = [...new Set(blocks)].filter((block) => block >= unnamed && block < high);
    recorded.sort((one, other) => other - one);
    this.keep([...recorded, ...Array.from({ length: Math.max(0, unnamed - low) }, (_, index) => unnamed - 1 - index)]);
  }

  keep(blocks: readonly number[]): void {
    const previousBlocks = this.blocks && new Set(this.blocks);
    this.blocks = blocks.filter((block) => previousBlocks?.has(block) ?? true);
  }

  get #blockRange(): Range {
    return { low: blockOf(this.range.low), high: blockOf(this.range.high - 1) + 1 };
  }
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

// Pinned requests in `ledger.sqlite`. Request and capture are JSON, since nothing is looked up in them.

const listed = 'SELECT request, pinned_at, note FROM pins';
/** In both stores: what a search reads of them. */
export const notedPins = 'SELECT id, started_at, note FROM pins WHERE note IS NOT NULL';

export function createPins(database: Database): PinStore {
  /** Statements are prepared at each use, since the file may have been replaced. */
  const run = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw isTemporary(error) ? unreadable(error) : error;
    }
  };
  const listeners: ((change: PinChange) => void)[] = [];
  const tell = (request: PinnedRequest['request'], pin: PinView | null) => {
    for (const listener of listeners) listener(changeOf(request, pin));
  };
  const find = (id: string) => {
    const row = database.prepare(`${listed} WHERE id = ?`).get(id);
    return row ? pinOf(row) : null;
  };
  return {
    onChange: (listener) => void listeners.push(listener),
    list: () => run(() => database.prepare(`${listed} ORDER BY started_at DESC, id`).all().map(pinOf)),
    find: (id) => run(() => find(id)),
    readCapture: (id) => run(() => pinnedCaptureOf(database.prepare('SELECT capture FROM pins WHERE id = ?').get(id))),
    put: (pin, capture, most) =>
      run(() => {
        const insert = database.prepare(`INSERT OR REPLACE INTO pins SELECT ?, ?, ?, ?, ?, ?
          WHERE (SELECT count(*) FROM pins WHERE id <> ?) < ?`);
        const isPut = insert.run(...pinRow(pin, capture), pin.request.id, most).changes > 0;
        if (isPut) tell(pin.request, { pinnedAt: pin.pinnedAt, note: storableNote(pin.note) });
        return isPut;
      }),
    note: (id, note) =>
      run(() => {
        const isNoted =
          database.prepare('UPDATE pins SET note = ? WHERE id = ?').run(storableNote(note), id).changes > 0;
        const pinned = isNoted ? find(id) : null;
        if (pinned) tell(pinned.request, { pinnedAt: pinned.pinnedAt, note: pinned.note });
        return isNoted;
      }),
    remove: (id) =>
      run(() => {
        const pinned = find(id);
        const isRemoved = database.prepare('DELETE FROM pins WHERE id = ?').run(id).changes > 0;
        if (pinned) tell(pinned.request, null);
        return isRemoved;
      }),
  };
}

/** PostgreSQL's types. */
export const pinTypes = {
  id: 'text',
  started_at: 'double precision',
  pinned_at: 'double precision',
  note: 'text',
  request: 'text',
  capture: 'text',
};

/** In the order of `pinTypes`. */
export function pinRow({ request, pinnedAt, note }: PinnedRequest, capture: PinnedCapture | null) {
  const { id, startedAt } = request;
  return [id, startedAt, pinnedAt, storableNote(note), JSON.stringify(request), capture && JSON.stringify(capture)];
}

export const storableNote = (note: string | null) => (note === null ? null : storableText(note));

export function pinOf(row: Row): PinnedRequest {
  return { request: JSON.parse(text(row.request) ?? ''), ...viewOf(row) };
}

export function viewOf(row: Row): PinView {
  return { pinnedAt: number(row.pinned_at) ?? 0, note: text(row.note) };
}

export function changeOf({ id, keyId, groupId }: Omit<PinChange, 'pin'>, pin: PinView | null): PinChange {
  return { id, keyId, groupId, pin };
}

export function pinnedCaptureOf(row: Row | undefined): PinnedCapture | null {
  const capture = text(row?.capture ?? null);
  return capture === null ? null : JSON.parse(capture);
}
