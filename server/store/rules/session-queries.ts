/** Questions about sessions: their conditions for both databases, and what is made of the rows. */
import type { Within } from '../../contract/people.ts';
import type { SessionInFull, SessionView } from '../../contract/session-views.ts';
import { number, type Row, text } from './columns.ts';
import { allOf, anyOf, isAmong, literal, raw, type Sql, sql } from './condition-sql.ts';
import type { ReadRequest } from './session-request.ts';
import { type CostOf, requestsOf, sumsOf, turnsOf } from './session-sums.ts';
import { placesOf } from './session-turns.ts';

/** All given conditions must hold. */
export interface SessionConditions {
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

/** Requests of a session that are read; of more, the newest. */
export const maxRequests = 5_000;

/** SQL of a row in `sessions`. */
export const budgetUsed = '(cost_usd - resumed_usd)';

/** The index holds nothing but running requests. */
const runningSessions: Sql = ({ notation }) =>
  `SELECT session FROM ${notation.indexed('requests', 'requests_running')} WHERE outcome IS NULL AND session IS NOT NULL`;

/** The sessions of a page, latest first. `firstSince`: the first sequence number of a request since a time. */
export function sessionsPage(
  filter: SessionFilter,
  firstSince: (sinceMs: number) => Sql,
): { page: Sql; limit: number } {
  const { keyId, groupId, client, sinceMs, running, stopped, stopAtUsd, before, within, limit: asked = 50 } = filter;
  const conditions: (Sql | false)[] = [
    before !== undefined && sql`last_seq < ${before}`,
    keyId !== undefined && sql`key_id = ${keyId}`,
    groupId !== undefined && sql`group_id = ${groupId}`,
    client !== undefined && sql`client = ${client}`,
    sinceMs !== undefined && sql`last_seq >= ${firstSince(sinceMs)}`,
    within !== undefined && anyOf([isAmong('key_id', within.keyIds), isAmong('group_id', within.groupIds)]),
    running === true && sql`id IN (${runningSessions})`,
    stopped === true && sql`(stopped_at IS NOT NULL OR ${raw(budgetUsed)} >= ${stopAtUsd ?? Number.MAX_VALUE})`,
  ];
  const limit = Math.min(Math.max(asked, 1), 200);
  const where = allOf(conditions.filter((each) => each !== false));
  return { page: sql`SELECT * FROM sessions WHERE ${where} ORDER BY last_seq DESC LIMIT ${literal(limit)}`, limit };
}

export interface SessionRead {
  /** In order of arrival. */
  requests: ReadRequest[];
  isComplete: boolean;
}

/** A session, its turns and its requests. */
export function inFull(
  row: Row,
  sessionRead: SessionRead,
  { stopAtUsd = null, costOf }: SessionReading,
): SessionInFull {
  const requests = requestsOf(sessionRead.requests, costOf);
  return { session: viewOf(row, sessionRead, stopAtUsd), turns: turnsOf(sessionRead.requests, requests), requests };
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
