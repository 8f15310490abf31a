/** Updates the table `sessions` within the transaction that writes the requests. */
import { text } from '../rules/columns.ts';
import { storableSession } from '../rules/storable-row.ts';
import type { JoinedRequest, SessionUses } from '../sqlite/session-rows.ts';
import { byText, columnsOf, unnest } from './columns.ts';
import type { Queries } from './postgres.ts';

const columns = {
  id: 'text',
  name: 'text',
  key_id: 'text',
  group_id: 'text',
  client: 'text',
  last_seq: 'bigint',
  cost_usd: 'double precision',
};
const insert = `INSERT INTO sessions (${Object.keys(columns).join(', ')})`;
const addUse =
  'last_seq = greatest(sessions.last_seq, excluded.last_seq), cost_usd = sessions.cost_usd + excluded.cost_usd';
const sessionsSql = `${insert} SELECT * FROM ${unnest(columns)}
  ON CONFLICT (id) DO UPDATE SET name = coalesce(excluded.name, sessions.name),
    client = coalesce(excluded.client, sessions.client), ${addUse}`;
const findSql = 'SELECT session FROM requests WHERE day = $1 AND id = $2 FOR UPDATE';
const joinSql = 'UPDATE requests SET session = $3, thread = $4, step = $5 WHERE day = $1 AND id = $2';
const joinedCostSql = `${insert}
  SELECT session, NULL, key_id, group_id, client, seq, coalesce(cost_usd, 0) FROM requests WHERE day = $1 AND id = $2
  ON CONFLICT (id) DO UPDATE SET ${addUse}`;

export async function writeSessions(queries: Queries, sessions: SessionUses): Promise<void> {
  const rows = [...sessions.entries()].map(([id, { row, name, client, lastSeq, costUsd }]) => [
    id,
    name,
    row.keyId,
    row.groupId,
    client,
    lastSeq,
    costUsd,
  ]);
  if (rows.length > 0) await queries.ask(sessionsSql, ...columnsOf(rows.sort(byText)));
}

/** Adds a recorded request to its session, unless it already has one. */
export async function joinSession(
  queries: Queries,
  day: number,
  { requestId, session: givenSession, hasEnded }: JoinedRequest,
): Promise<void> {
  const session = storableSession(givenSession);
  const { rows } = await queries.ask(findSql, day, requestId);
  const [row] = rows;
  if (!row || text(row.session) !== null) return;
  await queries.ask(joinSql, day, requestId, session.id, session.thread, session.step);
  if (hasEnded) await queries.ask(joinedCostSql, day, requestId);
}
