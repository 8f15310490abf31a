/** Reads sessions. Sums are read from the sessions' requests, in pieces between which other work runs. */

import { setImmediate } from 'node:timers/promises';
import type { SessionInFull, SessionView } from '../../contract/session-views.ts';
import { number, text } from '../rules/columns.ts';
import { sql, sqliteNotation } from '../rules/condition-sql.ts';
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
import { type Database, Reads } from './database.ts';
import { firstSince } from './seek.ts';

const rowsPerPiece = 1_000;

export async function listSessions(database: Database, filter: SessionFilter): Promise<SessionPage> {
  const { stopAtUsd = null, inMemory } = filter;
  const { page, limit } = sessionsPage(filter, (sinceMs) => sql`${firstSince(database, sinceMs)}`);
  const rows = new Reads(database).all(page);
  const sessions: SessionView[] = [];
  for (const row of rows)
    sessions.push(viewOf(row, await readRequests(database, text(row.id) ?? '', inMemory), stopAtUsd));
  return { sessions, next: rows.length < limit ? null : number(rows.at(-1)?.last_seq) };
}

/** Null if there is no such session. */
export async function getSession(
  database: Database,
  id: string,
  reading: SessionReading,
): Promise<SessionInFull | null> {
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
