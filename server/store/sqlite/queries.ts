/**
 * Queries of the ledger. SQLite runs on the main thread, so each query is split into batches of a few milliseconds and yields
 * to the event loop in between; hence the promises.
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
import {
  ClientModels,
  type ClientModelUse,
  ClientUses,
  clientModelsSql,
  clientUsesSql,
} from '../rules/client-models.ts';
import { number, text } from '../rules/columns.ts';
import { sql, sqliteNotation } from '../rules/condition-sql.ts';
import {
  latestRequests,
  type NameDimension,
  type RequestConditions,
  type SortColumn,
  timesOfId,
} from '../rules/request-conditions.ts';
import {
  inFull,
  maxRequests,
  type SessionFilter,
  type SessionPage,
  type SessionRead,
  type SessionReading,
  sessionsPage,
  viewOf,
} from '../rules/session-queries.ts';
import { type ReadRequest, readRequest, requestColumns } from '../rules/session-request.ts';
import type { UnpricedUse } from '../rules/unpriced-uses.ts';
import type { FirstByteQuery, UsageOverTimeQuery, UsageQuery } from '../rules/usage-query.ts';
import { absenceOf, readCapture } from './capture-rows.ts';
import { type Database, Reads } from './database.ts';
import { countRequests, findRequests, findUnpriced, sortRequests } from './find-requests.ts';
import { firstByteTimes, usageOverTime } from './over-time.ts';
import { repairedPercent as readRepairedPercent } from './repair.ts';
import { select } from './request-filter.ts';
import { recordedNames } from './request-names.ts';
import { blocksDuring, firstSince, wholeRange } from './seek.ts';
import { createTextIndex } from './text-index.ts';
import { summarizeUsage } from './usage-summary.ts';

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
    const blocks = blocksDuring(database, { sinceMs: times.sinceMs - idSlackMs, untilMs: times.untilMs + idSlackMs });
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
