/**
 * Queries of the ledger. SQLite runs on the main thread, so each query is split into batches of a few milliseconds and
 * yields to the event loop in between; hence the promises.
 */
import { setImmediate } from 'node:timers/promises';
import type { CaptureAbsence, CapturedExchange } from '../../contract/capture.ts';
import type {
  ClientUseView,
  FirstByteView,
  RequestCount,
  RequestView,
  UsageStepView,
  UsageView,
} from '../../contract/request-views.ts';
import type { SessionInFull, SessionView } from '../../contract/session-views.ts';
import { number, text } from '../rules/columns.ts';
import { raw, type Sql, sql, sqliteNotation } from '../rules/condition-sql.ts';
import {
  ClientModels,
  type ClientModelUse,
  ClientUses,
  clientModelsSql,
  clientUsesSql,
  type UnpricedUse,
  UnpricedUses,
  unpricedUsesSql,
} from '../rules/model-uses.ts';
import type { FirstByteQuery, UsageOverTimeQuery, UsageQuery } from '../rules/over-time.ts';
import {
  countColumns,
  latestRequests,
  maxCounted,
  maxSorted,
  type NameDimension,
  type RequestConditions,
  readCount,
  type SortColumn,
  sortedBy,
  timesOfId,
} from '../rules/request-conditions.ts';
import { toLedgerRow } from '../rules/rows.ts';
import {
  inFull,
  maxRequests,
  type ReadRequest,
  readRequest,
  requestColumns,
  type SessionFilter,
  type SessionPage,
  type SessionRead,
  type SessionReading,
  sessionsPage,
  viewOf,
} from '../rules/session-queries.ts';
import { absenceOf, readCapture } from './capture-rows.ts';
import { type Database, Reads } from './database.ts';
import { firstByteTimes, summarizeUsage, usageOverTime } from './over-time.ts';
import { repairedPercent as readRepairedPercent } from './repair.ts';
import { piecesOf, type Selection, select } from './request-filter.ts';
import { blocksDuring, firstSince, nearestFirst, type Range, recordedNames, wholeRange } from './request-names.ts';
import { createTextIndex } from './text-index.ts';

export interface RequestFilter extends RequestConditions {
  /** 1 to 1,000; default 100. */
  limit?: number;
  /** Only requests before this sequence number; the `next` of the previous page. Not for a sorted list. */
  before?: number;
  /** Default: newest first. */
  sort?: { by: SortColumn; isAscending: boolean };
}

export interface RequestPage {
  requests: RequestView[];
  /** The `before` of the next page; null if there is none. */
  next: number | null;
  /** How many of the newest matching requests were sorted; null: all, or the list is by time. */
  sortedOf: number | null;
  /** Of a search while the index is being repaired (see repair.ts): per cent done. Otherwise null. */
  repairedPercent: number | null;
}

/** The captured headers and bodies of a request, or why there are none. */
export interface KeptCapture {
  capture: CapturedExchange<Uint8Array> | null;
  absence: CaptureAbsence | null;
}

export interface LedgerQueries {
  listRequests(filter: RequestFilter): Promise<RequestPage>;
  getRequest(id: string): Promise<RequestView | null>;
  countRequests(filter: RequestConditions): Promise<RequestCount>;
  /** Those that occur in the ledger, in alphabetical order, at most 2,000. */
  listNames(dimension: NameDimension): Promise<string[]>;
  /** For the latest 100,000 requests. */
  listClients(): Promise<ClientUseView[]>;
  /** For the requests that began at `sinceMs` or later. */
  listClientModels(sinceMs: number): Promise<ClientModelUse[]>;
  /** For the latest 100,000 requests, most requests first. */
  listUnpriced(): Promise<UnpricedUse[]>;
  /** Days are in chronological order; everything else is sorted by cost and then by requests, highest first. */
  summarizeUsage(question: UsageQuery): Promise<UsageView[]>;
  /** In chronological order. */
  usageOverTime(question: UsageOverTimeQuery): Promise<UsageStepView[]>;
  /** In chronological order. */
  firstByteTimes(question: FirstByteQuery): Promise<FirstByteView>;
  /** Unix milliseconds of each key's last use, by key id. */
  lastUsed(): Map<string, number>;
  readCapture(request: RequestView): Promise<KeptCapture>;
  listSessions(filter: SessionFilter): Promise<SessionPage>;
  /** null if there is no such session. */
  getSession(id: string, reading?: SessionReading): Promise<SessionInFull | null>;
}

const rowsPerBatch = 4_000;
export function createLedgerQueries(database: Database, index = createTextIndex(database)): LedgerQueries {
  const clientModels = new RecentClientModels(database);
  return {
    async listRequests({ limit: requestedLimit = 100, before, sort, ...conditions }) {
      const limit = Math.min(Math.max(requestedLimit, 1), 1_000);
      const repairedPercent = conditions.search === undefined ? null : readRepairedPercent(database);
      const selection = await select(database, index, conditions);
      if (sort) {
        const sorted = await sortRequests(database, selection, { ...sort, limit });
        return { ...sorted, next: null, repairedPercent };
      }
      const requests = await findRequests(database, selection, limit, before);
      const next = requests.length < limit ? null : (requests.at(-1)?.seq ?? null);
      return { requests, next, sortedOf: null, repairedPercent };
    },
    listSessions: (filter) => listSessions(database, filter),
    getSession: (id, reading = {}) => getSession(database, id, reading),
    getRequest: (id) => getRequest(database, id),
    countRequests: async (filter) => countRequests(database, await select(database, index, filter)),
    listNames: async (dimension) => recordedNames(database, dimension),
    listClients: () => listClients(database),
    listClientModels: (sinceMs) => clientModels.since(sinceMs),
    listUnpriced: () => findUnpriced(database),
    summarizeUsage: (question) => summarizeUsage(database, index, question),
    usageOverTime: (question) => usageOverTime(database, index, question),
    firstByteTimes: (question) => firstByteTimes(database, question),
    lastUsed() {
      const rows = database.prepare('SELECT key_id, last_used_at FROM key_uses').all();
      return new Map(rows.map((row) => [text(row.key_id) ?? '', number(row.last_used_at) ?? 0]));
    },
    async readCapture(request) {
      const capture = readCapture(database, request.id);
      return { capture, absence: capture ? null : absenceIn(database, request) };
    },
  };
}

function absenceIn(database: Database, request: RequestView): CaptureAbsence {
  const row = database.prepare('SELECT captured FROM requests WHERE seq = ?').get(request.seq);
  const oldest = database.prepare('SELECT captured_at FROM captures ORDER BY seq LIMIT 1').get();
  return absenceOf(request, { captured: row?.captured ?? null, oldestAt: number(oldest?.captured_at) });
}

/** An id contains the time of its request; the row may have been inserted a little earlier or later. */
const idSlackMs = 5_000;

async function getRequest(database: Database, id: string): Promise<RequestView | null> {
  const times = timesOfId(id);
  const where = { condition: sql`id = ${id}`, isWhole: false, range: wholeRange(database) };
  if (times) {
    const during = blocksDuring(database, { sinceMs: times.sinceMs - idSlackMs, untilMs: times.untilMs + idSlackMs });
    // A busy hour has many.
    const blocks = nearestFirst(database, during, times.sinceMs);
    const [row] = await findRequests(database, { ...where, blocks }, 1);
    if (row) return row;
  }
  // Of an older version, or while the clock was wrong.
  const [row] = await findRequests(database, { ...where, blocks: null }, 1);
  return row ?? null;
}

/** There is no index on clients, so the scan is limited: about 100 ms, in batches of 4 ms. */
async function listClients(database: Database): Promise<ClientUseView[]> {
  const { low, high } = wholeRange(database);
  const select = database.prepare(
    `WITH asked AS (SELECT * FROM requests WHERE seq >= ? AND seq < ?) ${clientUsesSql('asked')}`,
  );
  const uses = new ClientUses();
  for (let from = Math.max(low, high - latestRequests); from < high; from += rowsPerBatch) {
    uses.add(select.all(from, Math.min(from + rowsPerBatch, high)));
    await setImmediate();
  }
  return uses.list;
}

const rowsPerPiece = 1_000;

/** Reads sessions. Sums are read from the sessions' requests, in pieces between which other work runs. */
async function listSessions(database: Database, filter: SessionFilter): Promise<SessionPage> {
  const { stopAtUsd = null, inMemory } = filter;
  const { page, limit } = sessionsPage(filter, (sinceMs) => sql`${firstSince(database, sinceMs)}`);
  const rows = new Reads(database).all(page);
  const sessions: SessionView[] = [];
  for (const row of rows)
    sessions.push(viewOf(row, await readRequests(database, text(row.id) ?? '', inMemory), stopAtUsd));
  return { sessions, next: rows.length < limit ? null : number(rows.at(-1)?.last_seq) };
}

/** Null if there is no such session. */
async function getSession(database: Database, id: string, reading: SessionReading): Promise<SessionInFull | null> {
  const row = database.prepare('SELECT * FROM sessions WHERE id = ?').get(id);
  return row ? inFull(row, await readRequests(database, id, reading.inMemory), reading) : null;
}

async function readRequests(database: Database, id: string, inMemory?: ReadonlySet<string>): Promise<SessionRead> {
  const selectRows = database.prepare(
    `SELECT ${requestColumns(sqliteNotation)} FROM requests INDEXED BY requests_by_session
     WHERE session = ? AND seq < ? ORDER BY seq DESC LIMIT ${rowsPerPiece}`,
  );
  const requests: ReadRequest[] = [];
  for (let before = Number.MAX_SAFE_INTEGER; requests.length < maxRequests; ) {
    const rows = selectRows.all(id, before);
    for (const row of rows) requests.push(readRequest(row, inMemory));
    await setImmediate();
    if (rows.length < rowsPerPiece) return { requests: requests.reverse(), isComplete: true };
    before = Number(rows.at(-1)?.seq);
  }
  return { requests: requests.reverse(), isComplete: false };
}

/** What has been read: all requests since `sinceMs` before the sequence number `end`. */
interface Read {
  sinceMs: number;
  end: number;
  models: ClientModels;
}

/**
 * Which models clients ask for: of the requests since a moment, of which those read once are remembered.
 *
 * There is no index on clients, and a panel asks about the same day again and again, so each request is read once. Only
 * those from the oldest running one on are read anew, because a row gets its client when it ends.
 */
class RecentClientModels {
  readonly #database: Database;
  #read: Read | null = null;

  constructor(database: Database) {
    this.#database = database;
  }

  async since(sinceMs: number): Promise<ClientModelUse[]> {
    const { high } = wholeRange(this.#database);
    const { end, models } = await this.#readTo(Math.min(this.#oldestRunning(), high), sinceMs);
    const all = new ClientModels(models);
    await this.#add(all, { from: end, to: high, sinceMs });
    return all.list;
  }

  async #readTo(end: number, sinceMs: number): Promise<Read> {
    const last = this.#read;
    // A file that was replaced begins anew.
    const isOfUse = last?.sinceMs === sinceMs && last.end <= end;
    const read: Read = { sinceMs, end, models: new ClientModels(isOfUse ? last.models : undefined) };
    const from = isOfUse ? last.end : Math.min(firstSince(this.#database, sinceMs), end);
    await this.#add(read.models, { from, to: end, sinceMs });
    this.#read = read;
    return read;
  }

  async #add(
    models: ClientModels,
    { from, to, sinceMs }: { from: number; to: number; sinceMs: number },
  ): Promise<void> {
    const select = this.#database.prepare(
      `WITH asked AS (SELECT * FROM requests WHERE seq >= ? AND seq < ? AND started_at >= ?) ${clientModelsSql('asked')}`,
    );
    for (let low = from; low < to; low += rowsPerBatch) {
      models.add(select.all(low, Math.min(low + rowsPerBatch, to), sinceMs));
      if (low + rowsPerBatch < to) await setImmediate();
    }
  }

  #oldestRunning(): number {
    const running = this.#database
      .prepare('SELECT min(seq) AS seq FROM requests INDEXED BY requests_running WHERE outcome IS NULL')
      .get();
    return Number(running?.seq ?? Number.MAX_SAFE_INTEGER);
  }
}

// Finds, sorts and counts requests. Reads in pieces of a few milliseconds and lets other work run in between.

const foundRowsPerPiece = 4_000;
/** Rows that a sort reads at most. */
const maxRead = 200_000;

/** Newest first. `before`: only requests before this sequence number. */
async function findRequests(
  database: Database,
  selection: Selection,
  limit: number,
  before = Number.POSITIVE_INFINITY,
): Promise<RequestView[]> {
  const reads = new Reads(database);
  const requests: RequestView[] = [];
  let sinceTurn = 0;
  for (const { low, high } of piecesOf(selection, foundRowsPerPiece)) {
    if (low >= before) continue;
    if (requests.length === limit) break;
    const end = Math.min(high, before);
    const newest = sql`SELECT * FROM requests WHERE ${within({ low, high: end })} AND ${selection.condition}
      ORDER BY seq DESC LIMIT ${limit - requests.length}`;
    for (const row of reads.all(newest)) requests.push(toLedgerRow(row));
    sinceTurn += end - low;
    if (sinceTurn < foundRowsPerPiece) continue;
    sinceTurn = 0;
    await setImmediate();
  }
  return requests;
}

const within = ({ low, high }: Range): Sql => sql`seq >= ${low} AND seq < ${high}`;

interface SortedRequests {
  requests: RequestView[];
  /** How many of the newest matching requests were sorted; null: all. */
  sortedOf: number | null;
}

/** The first `limit` by a column; requests without a value are left out. */
async function sortRequests(
  database: Database,
  selection: Selection,
  { by, isAscending, limit }: { by: SortColumn; isAscending: boolean; limit: number },
): Promise<SortedRequests> {
  const { value, hasValue } = sortedBy(by);
  const reads = new Reads(database);
  const candidates: { seq: number; value: number }[] = [];
  let rowsRead = 0;
  let isCut = false;
  for (const { low, high } of piecesOf(selection, foundRowsPerPiece)) {
    isCut = candidates.length > maxSorted || rowsRead >= maxRead;
    if (isCut) break;
    const values = sql`SELECT seq, ${raw(value)} AS value FROM requests
      WHERE ${within({ low, high })} AND ${selection.condition} AND ${raw(hasValue)}
      ORDER BY seq DESC LIMIT ${maxSorted + 1 - candidates.length}`;
    for (const row of reads.all(values)) candidates.push({ seq: Number(row.seq), value: number(row.value) ?? 0 });
    rowsRead += high - low;
    await setImmediate();
  }
  isCut ||= candidates.length > maxSorted;
  candidates.length = Math.min(candidates.length, maxSorted);
  const sign = isAscending ? 1 : -1;
  candidates.sort((one, other) => sign * (one.value - other.value) || other.seq - one.seq);
  const selectRequest = database.prepare('SELECT * FROM requests WHERE seq = ?');
  const rows = candidates.slice(0, limit).map(({ seq }) => selectRequest.get(seq));
  return {
    requests: rows.filter((row) => row !== undefined).map(toLedgerRow),
    sortedOf: isCut ? candidates.length : null,
  };
}

/** Reads at most 200,000 rows; of more, it counts the newest. */
async function countRequests(database: Database, selection: Selection): Promise<RequestCount> {
  if (selection.isWhole) return countAll(database, selection);
  const reads = new Reads(database);
  const count: RequestCount = { requests: 0, failed: 0, refused: 0, isComplete: true };
  let rowsRead = 0;
  for (const { low, high } of piecesOf(selection, foundRowsPerPiece)) {
    if (rowsRead >= maxCounted) return { ...count, isComplete: false };
    const [row] = reads.all(
      sql`SELECT ${raw(countColumns(sqliteNotation))} FROM requests WHERE ${within({ low, high })} AND ${selection.condition}`,
    );
    const piece = readCount(row);
    count.requests += piece.requests;
    count.failed += piece.failed;
    count.refused += piece.refused;
    rowsRead += high - low;
    await setImmediate();
  }
  return count;
}

/** Rows are deleted from the oldest on, so there are no gaps. */
function countAll(database: Database, { range }: Selection): RequestCount {
  const row = database
    .prepare(
      `SELECT ${countColumns(sqliteNotation)} FROM requests INDEXED BY requests_failed
       WHERE outcome NOT IN ('ok', 'client-gone')`,
    )
    .get();
  return { ...readCount(row), requests: range.high - range.low, isComplete: true };
}

/** There is no index on costs, so the scan is limited: about 100 ms, in pieces of 4 ms. */
async function findUnpriced(database: Database): Promise<UnpricedUse[]> {
  const { low, high } = wholeRange(database);
  const select = database.prepare(
    `WITH asked AS (SELECT * FROM requests WHERE seq >= ? AND seq < ?) ${unpricedUsesSql('asked', sqliteNotation)}`,
  );
  const uses = new UnpricedUses();
  for (let from = Math.max(low, high - latestRequests); from < high; from += foundRowsPerPiece) {
    uses.add(select.all(from, Math.min(from + foundRowsPerPiece, high)));
    await setImmediate();
  }
  return uses.list;
}
