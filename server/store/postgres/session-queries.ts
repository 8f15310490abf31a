/** Queries about sessions. Their sums are computed from the sessions' requests. */
import type { SessionInFull } from '../../contract/session-views.ts';
import { number, text } from '../rules/columns.ts';
import { postgresNotation } from '../rules/condition-sql.ts';
import { readRequest, requestColumns } from '../rules/session-request.ts';
import { requestsOf, turnsOf } from '../rules/session-sums.ts';
import { budgetUsed } from '../sqlite/session-states.ts';
import {
  maxRequests,
  type SessionFilter,
  type SessionPage,
  type SessionRead,
  type SessionReading,
  viewOf,
} from '../sqlite/sessions.ts';
import { orMoved } from './partitions.ts';
import type { Parameter, Postgres } from './postgres.ts';

const readSql = `SELECT * FROM (
    SELECT ${requestColumns(postgresNotation)}, session, row_number() OVER (PARTITION BY session ORDER BY seq DESC) AS place
    FROM requests WHERE session = ANY($1)
  ) AS latest WHERE place <= ${maxRequests + 1} ORDER BY seq`;
const firstSince = `SELECT coalesce(min(seq), 9e15) FROM requests WHERE started_at >= $sinceMs AND ${orMoved('day >= floor($sinceMs::float8 / 86400000)')}`;
const runningSessions = 'SELECT session FROM requests WHERE outcome IS NULL AND session IS NOT NULL';

export async function listSessions(postgres: Postgres, filter: SessionFilter): Promise<SessionPage> {
  const { limit: requestedLimit = 50, stopAtUsd = null, inMemory } = filter;
  const limit = Math.min(Math.max(requestedLimit, 1), 200);
  const { sql, values } = conditionsOf(filter);
  const { rows } = await postgres.ask(`SELECT * FROM sessions ${sql} ORDER BY last_seq DESC LIMIT ${limit}`, ...values);
  const readBySession = await readRequests(
    postgres,
    rows.map(({ id }) => text(id) ?? ''),
    inMemory,
  );
  const sessions = rows.map((row) => viewOf(row, readBySession.get(text(row.id) ?? '') ?? nothing, stopAtUsd));
  return { sessions, next: rows.length < limit ? null : number(rows.at(-1)?.last_seq) };
}

function conditionsOf({ keyId, groupId, client, sinceMs, running, stopped, stopAtUsd, before, within }: SessionFilter) {
  const values: Parameter[] = [];
  const conditions: string[] = running ? [`id IN (${runningSessions})`] : [];
  const add = (condition: string, value: Parameter | undefined) => {
    if (value !== undefined) conditions.push(condition.replaceAll(/\$\w+/g, `$${values.push(value)}`));
  };
  add('key_id = $keyId', keyId);
  add('group_id = $groupId', groupId);
  add('client = $client', client);
  if (within) {
    const [keys, groups] = [values.push(within.keyIds), values.push(within.groupIds)];
    conditions.push(`(key_id = ANY($${keys}) OR group_id = ANY($${groups}))`);
  }
  add(`last_seq >= (${firstSince})`, sinceMs);
  add('last_seq < $before', before);
  if (stopped) add(`(stopped_at IS NOT NULL OR ${budgetUsed} >= $stopAtUsd)`, stopAtUsd ?? Number.MAX_VALUE);
  return { sql: conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`, values };
}

/** null if there is no such session. */
export async function getSession(
  postgres: Postgres,
  id: string,
  { stopAtUsd = null, inMemory, costOf }: SessionReading = {},
): Promise<SessionInFull | null> {
  const { rows } = await postgres.ask('SELECT * FROM sessions WHERE id = $1', id);
  const [row] = rows;
  if (!row) return null;
  const sessionRead = (await readRequests(postgres, [id], inMemory)).get(id) ?? nothing;
  const requests = requestsOf(sessionRead.requests, costOf);
  return { session: viewOf(row, sessionRead, stopAtUsd), turns: turnsOf(sessionRead.requests, requests), requests };
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
