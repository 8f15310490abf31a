/** Queries about sessions. Sums are read from the sessions' requests, in pieces between which other work runs. */

import { setImmediate } from 'node:timers/promises';
import type { Within } from '../../contract/people.ts';
import type { SessionInFull, SessionView } from '../../contract/session-views.ts';
import { number, type Row, type SqlValue, text } from '../rules/columns.ts';
import { sqliteNotation } from '../rules/condition-sql.ts';
import { type ReadRequest, readRequest, requestColumns } from '../rules/session-request.ts';
import { type CostOf, requestsOf, sumsOf, turnsOf } from '../rules/session-sums.ts';
import { placesOf } from '../rules/session-turns.ts';
import type { Database } from './database.ts';
import { firstSince } from './seek.ts';
import { budgetUsed } from './session-states.ts';

/** All given conditions must hold. */
interface SessionConditions {
  keyId?: string;
  groupId?: string;
  client?: string;
  /** Unix milliseconds: with a request since then. */
  sinceMs?: number;
  /** With a request that has not ended. */
  running?: true;
  /** Whose requests are refused. */
  stopped?: true;
  /** The budget of each session in US dollars; null or absent: none. */
  stopAtUsd?: number | null;
  /** Absent: all sessions. */
  within?: Within;
}

/** What is known of sessions besides their rows. */
export interface SessionReading {
  /** The budget of each session in US dollars; null or absent: none. */
  stopAtUsd?: number | null;
  /** Ids of requests whose capture is in memory. */
  inMemory?: ReadonlySet<string>;
  /** Prices what the cache lost. */
  costOf?: CostOf;
}

export interface SessionFilter extends SessionConditions, Pick<SessionReading, 'inMemory'> {
  /** 1 to 200; default 50. */
  limit?: number;
  /** The `next` of the previous page. */
  before?: number;
}

export interface SessionPage {
  /** Latest first, by the last request. */
  sessions: SessionView[];
  next: number | null;
}

const rowsPerPiece = 1_000;
/** Requests of a session that are read; of more, the newest. */
export const maxRequests = 5_000;

export async function listSessions(database: Database, filter: SessionFilter): Promise<SessionPage> {
  const { limit: requestedLimit = 50, before = Number.MAX_SAFE_INTEGER, stopAtUsd = null, inMemory } = filter;
  const limit = Math.min(Math.max(requestedLimit, 1), 200);
  const { sql, values } = conditionsOf(database, filter);
  const rows = database
    .prepare(`SELECT * FROM sessions WHERE last_seq < ?${sql} ORDER BY last_seq DESC LIMIT ?`)
    .all(before, ...values, limit);
  const sessions: SessionView[] = [];
  for (const row of rows)
    sessions.push(viewOf(row, await readRequests(database, text(row.id) ?? '', inMemory), stopAtUsd));
  return { sessions, next: rows.length < limit ? null : number(rows.at(-1)?.last_seq) };
}

function conditionsOf(
  database: Database,
  { keyId, groupId, client, sinceMs, running, stopped, stopAtUsd, within }: SessionConditions,
): { sql: string; values: SqlValue[] } {
  const conditions: [condition: string, ...values: SqlValue[]][] = [];
  if (keyId !== undefined) conditions.push(['key_id = ?', keyId]);
  if (groupId !== undefined) conditions.push(['group_id = ?', groupId]);
  if (client !== undefined) conditions.push(['client = ?', client]);
  if (sinceMs !== undefined) conditions.push(['last_seq >= ?', firstSince(database, sinceMs)]);
  if (within) conditions.push([withinSql, JSON.stringify(within.keyIds), JSON.stringify(within.groupIds)]);
  if (running) conditions.push([`id IN (${runningSessions})`]);
  if (stopped) conditions.push([`(stopped_at IS NOT NULL OR ${budgetUsed} >= ?)`, stopAtUsd ?? Number.MAX_VALUE]);
  return {
    sql: conditions.map(([condition]) => ` AND ${condition}`).join(''),
    values: conditions.flatMap(([, ...values]) => values),
  };
}

const withinSql = '(key_id IN (SELECT value FROM json_each(?)) OR group_id IN (SELECT value FROM json_each(?)))';

/** The conditions of its index, which holds nothing else. */
const runningSessions =
  'SELECT session FROM requests INDEXED BY requests_running WHERE outcome IS NULL AND session IS NOT NULL';

/** Null if there is no such session. */
export async function getSession(
  database: Database,
  id: string,
  { stopAtUsd = null, inMemory, costOf }: SessionReading,
): Promise<SessionInFull | null> {
  const row = database.prepare('SELECT * FROM sessions WHERE id = ?').get(id);
  if (!row) return null;
  const sessionRead = await readRequests(database, id, inMemory);
  const requests = requestsOf(sessionRead.requests, costOf);
  return { session: viewOf(row, sessionRead, stopAtUsd), turns: turnsOf(sessionRead.requests, requests), requests };
}

export interface SessionRead {
  /** In order of arrival. */
  requests: ReadRequest[];
  isComplete: boolean;
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

/** Of a row of the table `sessions`. */
export function viewOf(row: Row, { requests, isComplete }: SessionRead, stopAtUsd: number | null): SessionView {
  const places = placesOf(requests);
  const last = requests.at(-1);
  const budgetUsedUsd = (number(row.cost_usd) ?? 0) - (number(row.resumed_usd) ?? 0);
  return {
    id: text(row.id) ?? '',
    name: text(row.name),
    keyId: text(row.key_id),
    groupId: text(row.group_id),
    client: text(row.client),
    firstAt: requests[0]?.startedAt ?? 0,
    lastAt: last ? Math.round(last.startedAt + (last.totalMs ?? 0)) : 0,
    running: requests.filter(({ outcome }) => outcome === null).length,
    turns: places.at(-1)?.turn ?? 0,
    stoppedAt: number(row.stopped_at),
    isOverBudget: stopAtUsd !== null && budgetUsedUsd >= stopAtUsd,
    budgetUsedUsd,
    openingId: requests.find(({ isCaptured }, index) => isCaptured && places[index]?.thread === 0)?.id ?? null,
    isComplete,
    ...sumsOf(requests),
  };
}
