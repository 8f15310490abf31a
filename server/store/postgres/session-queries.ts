/** Queries about sessions. Sums are made from the sessions' requests. */
import type { SessionInFull } from '../../contract/session-views.ts';
import { number, text } from '../../database/columns.ts';
import { readRequest, requestColumns } from '../../ledger/session-request.ts';
import { requestsOf, turnsOf } from '../../ledger/session-sums.ts';
import { mostRequests, type SessionFilter, type SessionPage, type SessionRead, viewOf } from '../../ledger/sessions.ts';
import type { Parameter, Postgres } from './postgres.ts';

const readSql = `SELECT * FROM (
    SELECT ${requestColumns}, session, row_number() OVER (PARTITION BY session ORDER BY seq DESC) AS place
    FROM requests WHERE session = ANY($1)
  ) AS latest WHERE place <= ${mostRequests + 1} ORDER BY seq`;
const firstSince = `SELECT coalesce(min(seq), 9e15) FROM requests WHERE started_at >= $sinceMs AND day >= floor($sinceMs::float8 / 86400000)`;

export async function listSessions(postgres: Postgres, filter: SessionFilter): Promise<SessionPage> {
  const limit = Math.min(Math.max(filter.limit ?? 50, 1), 200);
  const { sql, values } = conditionsOf(filter);
  const { rows } = await postgres.ask(`SELECT * FROM sessions ${sql} ORDER BY last_seq DESC LIMIT ${limit}`, ...values);
  const read = await readRequests(
    postgres,
    rows.map(({ id }) => text(id) ?? ''),
  );
  const sessions = rows.map((row) => viewOf(row, read.get(text(row.id) ?? '') ?? nothing));
  return { sessions, next: rows.length < limit ? null : number(rows.at(-1)?.last_seq) };
}

function conditionsOf({ keyId, groupId, client, sinceMs, stopped, before }: SessionFilter) {
  const values: Parameter[] = [];
  const conditions: string[] = stopped ? ['stopped_at IS NOT NULL'] : [];
  const add = (condition: string, value: Parameter | undefined) => {
    if (value !== undefined) conditions.push(condition.replaceAll(/\$\w+/g, `$${values.push(value)}`));
  };
  add('key_id = $keyId', keyId);
  add('group_id = $groupId', groupId);
  add('client = $client', client);
  add(`last_seq >= (${firstSince})`, sinceMs);
  add('last_seq < $before', before);
  return { sql: conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`, values };
}

/** Null if there is no such session. */
export async function getSession(postgres: Postgres, id: string): Promise<SessionInFull | null> {
  const { rows } = await postgres.ask('SELECT * FROM sessions WHERE id = $1', id);
  const [row] = rows;
  if (!row) return null;
  const read = (await readRequests(postgres, [id])).get(id) ?? nothing;
  const requests = requestsOf(read.requests);
  return { session: viewOf(row, read), turns: turnsOf(read.requests, requests), requests };
}

const nothing: SessionRead = { requests: [], isComplete: true };

/** By session. */
async function readRequests(postgres: Postgres, ids: readonly string[]): Promise<Map<string, SessionRead>> {
  const { rows } = await postgres.ask(readSql, ids);
  const bySession = Map.groupBy(rows, ({ session }) => text(session) ?? '');
  return new Map(
    [...bySession].map(([id, own]) => {
      const requests = own.slice(-mostRequests).map(readRequest);
      return [id, { requests, isComplete: own.length <= mostRequests }];
    }),
  );
}
