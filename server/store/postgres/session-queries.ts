/** Queries about sessions. Their sums are computed from the sessions' requests. */
import type { SessionInFull } from '../../contract/session-views.ts';
import { dayMs } from '../../contract/units.ts';
import { number, text } from '../rules/columns.ts';
import { postgresNotation, type Sql, sql } from '../rules/condition-sql.ts';
import {
  budgetUsed,
  inFull,
  maxRequests,
  readRequest,
  requestColumns,
  type SessionFilter,
  type SessionPage,
  type SessionRead,
  type SessionReading,
  sessionsPage,
  viewOf,
} from '../rules/session-queries.ts';
import { type Postgres, readRows } from './postgres.ts';
import { moved } from './request-conditions.ts';

const readSql = `SELECT * FROM (
    SELECT ${requestColumns(postgresNotation)}, session, row_number() OVER (PARTITION BY session ORDER BY seq DESC) AS place
    FROM requests WHERE session = ANY($1)
  ) AS latest WHERE place <= ${maxRequests + 1} ORDER BY seq`;

export async function listSessions(postgres: Postgres, filter: SessionFilter): Promise<SessionPage> {
  const { stopAtUsd = null, inMemory } = filter;
  const { page, limit } = sessionsPage(filter, firstSince);
  const rows = await readRows(postgres, page);
  const readBySession = await readRequests(
    postgres,
    rows.map(({ id }) => text(id) ?? ''),
    inMemory,
  );
  const sessions = rows.map((row) => viewOf(row, readBySession.get(text(row.id) ?? '') ?? nothing, stopAtUsd));
  return { sessions, next: rows.length < limit ? null : number(rows.at(-1)?.last_seq) };
}

function firstSince(sinceMs: number): Sql {
  const since = sql`started_at >= ${sinceMs} AND ${moved(sql`day >= ${Math.floor(sinceMs / dayMs)}`)}`;
  return sql`(SELECT coalesce(min(seq), 9e15) FROM requests WHERE ${since})`;
}

/** null if there is no such session. */
export async function getSession(
  postgres: Postgres,
  id: string,
  reading: SessionReading = {},
): Promise<SessionInFull | null> {
  const { rows } = await postgres.ask('SELECT * FROM sessions WHERE id = $1', id);
  const [row] = rows;
  if (!row) return null;
  return inFull(row, (await readRequests(postgres, [id], reading.inMemory)).get(id) ?? nothing, reading);
}

/** The part of a session's budget that its written requests have used, in US dollars. */
export async function readBudgetUsedUsd(postgres: Postgres, id: string): Promise<number> {
  const { rows } = await postgres.ask(`SELECT ${budgetUsed} AS usd FROM sessions WHERE id = $1`, id);
  return number(rows[0]?.usd) ?? 0;
}

const nothing: SessionRead = { requests: [], isComplete: true };

/** Requests by session id. */
async function readRequests(
  postgres: Postgres,
  ids: readonly string[],
  inMemory?: ReadonlySet<string>,
): Promise<Map<string, SessionRead>> {
  const { rows } = await postgres.ask(readSql, ids);
  const bySession = Map.groupBy(rows, ({ session }) => text(session) ?? '');
  return new Map(
    [...bySession].map(([id, rowsOfSession]) => {
      const requests = rowsOfSession.slice(-maxRequests).map((row) => readRequest(row, inMemory));
      return [id, { requests, isComplete: rowsOfSession.length <= maxRequests }];
    }),
  );
}
