/** The queries of the ledger. Each first writes the rows that are waiting, so that they are included. */

import type {
  ClientUseView,
  FirstByteView,
  RequestCount,
  RequestView,
  UsageStepView,
  UsageView,
} from '../../contract/request-views.ts';
import type { SessionInFull } from '../../contract/session-views.ts';
import { dayMs, quarterMs } from '../../contract/units.ts';
import { number, type Row, text } from '../rules/columns.ts';
import { allOf, literal, postgresNotation, raw, type Sql, sql } from '../rules/condition-sql.ts';
import { unreadable } from '../rules/failures.ts';
import {
  ClientModels,
  type ClientModelUse,
  ClientUses,
  clientModelsSql,
  clientUsesSql,
  mostClientUses,
  type UnpricedUse,
  UnpricedUses,
  unpricedUsesSql,
} from '../rules/model-uses.ts';
import {
  type AskedStep,
  askedSteps,
  byCost,
  calendarFor,
  compareNames,
  counted,
  type FirstByteQuery,
  FirstByteSteps,
  isOfSums,
  isSampled,
  samplesPerStep,
  stepsOf,
  summaryOf,
  type UsageOverTimeQuery,
  type UsageQuery,
  type UsageStep,
} from '../rules/over-time.ts';
import {
  countColumns,
  countedColumns,
  idSlackMs,
  latestRequests,
  maxCounted,
  maxSorted,
  type RequestConditions,
  readCount,
  type SortColumn,
  sortedBy,
  timesOfId,
} from '../rules/request-conditions.ts';
import { toLedgerRow } from '../rules/rows.ts';
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
  viewOf as sessionViewOf,
} from '../rules/session-queries.ts';
import {
  countedRequests,
  displayedCost,
  nameColumns,
  readSums,
  storedSums,
  sumColumns,
  summedColumns,
} from '../rules/sums.ts';
import { quartersPerDay } from '../sqlite/derived-rows.ts';
import { viewStep } from '../sqlite/over-time.ts';
import type { LedgerQueries, RequestFilter, RequestPage } from '../sqlite/queries.ts';
import { readCapture } from './captures.ts';
import { movedDaysSql } from './partitions.ts';
import { explained, type Postgres, readRows } from './postgres.ts';
import { conditionOf, moved, recordedNames } from './request-conditions.ts';

interface Asking {
  postgres: Postgres;
  /** Writes the waiting rows; does not reject. */
  flush(): Promise<void>;
  lastUsed(): Map<string, number>;
}

/** The queries reject with a GatewayError `storage_unavailable` while the database cannot be read. */
export function createPostgresQueries({ postgres, flush, lastUsed }: Asking): LedgerQueries {
  const read = async <T>(ask: () => Promise<T>): Promise<T> => {
    await flush();
    return explained(ask, unreadable);
  };
  return {
    listRequests: (filter) => read(() => listRequests(postgres, filter)),
    getRequest: (id) => read(() => getRequest(postgres, id)),
    countRequests: (filter) => read(() => countRequests(postgres, filter)),
    listNames: (dimension) => read(() => recordedNames(postgres, dimension)),
    listClients: () => read(() => listClients(postgres)),
    listClientModels: (sinceMs) => read(() => listClientModels(postgres, sinceMs)),
    listUnpriced: () => read(() => listUnpriced(postgres)),
    summarizeUsage: (question) => read(() => summarizeUsage(postgres, question)),
    usageOverTime: (question) => read(() => usageOverTime(postgres, question)),
    firstByteTimes: (question) => read(() => firstByteTimes(postgres, question)),
    lastUsed,
    readCapture: (request) => read(() => readCapture(postgres, request)),
    listSessions: (filter) => read(() => listSessions(postgres, filter)),
    getSession: (id, reading) => read(() => getSession(postgres, id, reading)),
  };
}

/** Finds, sorts and counts requests in PostgreSQL. */
export async function listRequests(postgres: Postgres, filter: RequestFilter): Promise<RequestPage> {
  const { limit: requestedLimit = 100, before, sort, ...conditions } = filter;
  const limit = Math.min(Math.max(requestedLimit, 1), 1_000);
  if (sort) return sortRequests(postgres, conditions, { ...sort, limit });
  const earlier = before === undefined ? [] : [sql`seq < ${Math.floor(before)}`];
  const condition = allOf([await conditionOf(postgres, conditions), ...earlier]);
  const newest = sql`SELECT * FROM requests WHERE ${condition} ORDER BY seq DESC LIMIT ${literal(limit)}`;
  const rows = await readRows(postgres, newest);
  const requests = rows.map(toLedgerRow);
  const next = requests.length < limit ? null : (requests.at(-1)?.seq ?? null);
  return { requests, next, sortedOf: null, repairedPercent: null };
}

/** Leaves out requests without a value. */
async function sortRequests(
  postgres: Postgres,
  conditions: RequestConditions,
  { by, isAscending, limit }: { by: SortColumn; isAscending: boolean; limit: number },
): Promise<RequestPage> {
  const { value, hasValue } = sortedBy(by);
  const condition = allOf([await conditionOf(postgres, conditions), raw(hasValue)]);
  const newest = sql`SELECT *, ${raw(value)} AS sorted_by, row_number() OVER (ORDER BY seq DESC) AS place FROM requests
    WHERE ${condition} ORDER BY seq DESC LIMIT ${literal(maxSorted + 1)}`;
  const sorted = sql`WITH newest AS (${newest}) SELECT *, (SELECT count(*) FROM newest) AS matching FROM newest
    WHERE place <= ${literal(maxSorted)} ORDER BY sorted_by ${raw(isAscending ? 'ASC' : 'DESC')}, seq DESC LIMIT ${literal(limit)}`;
  const rows = await readRows(postgres, sorted);
  const isCut = (number(rows[0]?.matching) ?? 0) > maxSorted;
  return { requests: rows.map(toLedgerRow), next: null, sortedOf: isCut ? maxSorted : null, repairedPercent: null };
}

/** null if there is no such request. */
export async function getRequest(postgres: Postgres, id: string): Promise<RequestView | null> {
  const times = timesOfId(id);
  const nearbyDays = times && [dayOf(times.sinceMs - idSlackMs), dayOf(times.untilMs + idSlackMs)];
  if (nearbyDays) {
    const answer = await postgres.ask(
      'SELECT * FROM requests WHERE day BETWEEN $1 AND $2 AND id = $3 LIMIT 1',
      ...nearbyDays,
      id,
    );
    if (answer.rows[0]) return toLedgerRow(answer.rows[0]);
  }
  const { rows } = await postgres.ask('SELECT * FROM requests WHERE id = $1 LIMIT 1', id);
  return rows[0] ? toLedgerRow(rows[0]) : null;
}

/** Clamps to the range of PostgreSQL's `integer`. */
const dayOf = (timeMs: number) => Math.min(Math.max(Math.floor(timeMs / dayMs), 0), 2 ** 31 - 1);

export async function countRequests(postgres: Postgres, filter: RequestConditions): Promise<RequestCount> {
  const newest = sql`SELECT ${raw(countedColumns)} FROM requests WHERE ${await conditionOf(postgres, filter)}
    ORDER BY seq DESC LIMIT ${literal(maxCounted + 1)}`;
  const count = sql`SELECT ${raw(countColumns(postgresNotation))} FROM (${newest}) AS newest`;
  const [row] = await readRows(postgres, count);
  const { requests, ...parts } = readCount(row);
  return { requests: Math.min(requests, maxCounted), ...parts, isComplete: requests <= maxCounted };
}

/** Considers the latest 100,000 requests. */
export async function listClients(postgres: Postgres): Promise<ClientUseView[]> {
  const { rows } = await postgres.ask(
    `WITH asked AS (SELECT client, key_id, started_at, shadow_of FROM requests ORDER BY seq DESC LIMIT ${latestRequests})
     ${clientUsesSql('asked')} ORDER BY last_used_at DESC LIMIT ${mostClientUses}`,
  );
  const uses = new ClientUses();
  uses.add(rows);
  return uses.list;
}

export async function listClientModels(postgres: Postgres, sinceMs: number): Promise<ClientModelUse[]> {
  const { rows } = await postgres.ask(
    `WITH asked AS (SELECT client, key_id, model_asked, started_at, shadow_of FROM requests WHERE day >= $1 AND started_at >= $2)
     ${clientModelsSql('asked')} ORDER BY last_used_at DESC LIMIT ${mostClientUses}`,
    dayOf(sinceMs),
    sinceMs,
  );
  const models = new ClientModels();
  models.add(rows);
  return models.list;
}

/** The models of the latest 100,000 requests that may have had an unknown cost. */
export async function listUnpriced(postgres: Postgres): Promise<UnpricedUse[]> {
  const { rows } = await postgres.ask(
    `WITH asked AS (SELECT * FROM requests ORDER BY seq DESC LIMIT ${latestRequests})
     ${unpricedUsesSql('asked', postgresNotation)}`,
  );
  const uses = new UnpricedUses();
  uses.add(rows);
  return uses.list;
}

/**
 * Usage over a range, from the sums: whole days where possible, and quarter-hours before and after them.
 *
 * Days are in chronological order; everything else is sorted by cost and then by requests, highest first.
 */
export async function summarizeUsage(postgres: Postgres, question: UsageQuery): Promise<UsageView[]> {
  if (question.within || question.by === 'day')
    return summaryOf(await readSteps(postgres, stepsOf(question)), question);
  return summarizeNames(postgres, question);
}

/** Later than every quarter that a table can hold. */
const lastQuarter = 2 ** 31 - 1 - quartersPerDay;

function quartersOf({ sinceMs, untilMs }: Pick<UsageQuery, 'sinceMs' | 'untilMs'>): [from: number, to: number] {
  return [
    sinceMs === undefined ? 0 : Math.max(0, Math.floor(sinceMs / quarterMs)),
    untilMs === undefined ? lastQuarter : Math.min(lastQuarter, Math.ceil(untilMs / quarterMs)),
  ];
}

async function summarizeNames(postgres: Postgres, question: UsageQuery): Promise<UsageView[]> {
  const [from, to] = quartersOf(question);
  const firstDay = Math.ceil(from / quartersPerDay);
  const endDay = Math.max(firstDay, Math.floor(to / quartersPerDay));
  const cells = (time: 'quarter' | 'day', first: number, end: number) =>
    sql`SELECT name, ${raw(sumColumns.join(', '))} FROM ${raw(time === 'day' ? 'usage_days' : 'usage_quarters')}
      WHERE ${storedSums(time, { ...question, from: first, to: end })}`;
  const before = cells('quarter', from, Math.min(to, firstDay * quartersPerDay));
  const days = cells('day', firstDay, endDay);
  const after = cells('quarter', endDay * quartersPerDay, to);
  const rows = await readRows(
    postgres,
    sql`SELECT name, ${raw(summedColumns)} FROM (${before} UNION ALL ${days} UNION ALL ${after}) AS cells GROUP BY name`,
  );
  return rows.map((row) => viewOf(text(row.name), row)).sort(byCost);
}

function viewOf(name: string | null, row: Row): UsageView {
  const sums = readSums(row);
  return { ...sums, name: name || null, costUsd: displayedCost(sums) };
}

/** In chronological order. */
export async function usageOverTime(postgres: Postgres, question: UsageOverTimeQuery): Promise<UsageStepView[]> {
  return (await readSteps(postgres, question)).map(viewStep);
}

async function readSteps(postgres: Postgres, asked: UsageOverTimeQuery): Promise<UsageStep[]> {
  const question = await ofKeptTime(postgres, counted(asked));
  const { sinceMs, untilMs, within, by, names } = question;
  const starts = calendarFor(question)
    .stepsOf(question.stepMs, question)
    .map(({ startMs }) => startMs);
  if (starts.length === 0) return [];
  const rows = await readRows(
    postgres,
    isOfSums(question)
      ? stepsOfQuarters(question, starts)
      : countedRequests({
          ...{ by, names, slot: slotOf('started_at::float8', starts) },
          condition: await conditionOf(postgres, { sinceMs, untilMs, ...(within && { within }) }),
        }),
  );
  return rows
    .map((row) => ({
      ...readSums(row),
      startMs: starts[(number(row.slot) ?? 1) - 1] ?? 0,
      name: text(row.name) || null,
    }))
    .sort((one, other) => one.startMs - other.startMs || compareNames(one.name, other.name));
}

/** The question limited to the time of which there is usage: since 1970 there are many days. */
async function ofKeptTime(postgres: Postgres, question: UsageOverTimeQuery): Promise<UsageOverTimeQuery> {
  const { rows } = await postgres.ask(
    "SELECT min(quarter) AS first, max(quarter) AS last FROM usage_quarters WHERE dimension = 'day'",
  );
  const [first, last] = [number(rows[0]?.first), number(rows[0]?.last)];
  if (first === null || last === null) return { ...question, untilMs: question.sinceMs };
  const { sinceMs, untilMs } = question;
  return {
    ...question,
    sinceMs: Math.max(sinceMs, first * quarterMs),
    untilMs: Math.min(untilMs, (last + 1) * quarterMs),
  };
}

/** The place of the step, from 1, to which the time belongs. */
const slotOf =
  (time: string, starts: readonly number[]): Sql =>
  ({ value }) =>
    `width_bucket(${time}, ${value(starts)}::float8[])`;

function stepsOfQuarters(question: UsageOverTimeQuery, starts: readonly number[]): Sql {
  const [from, to] = quartersOf(question);
  const slot = slotOf(`quarter * ${quarterMs}::float8`, starts);
  return sql`SELECT ${slot} AS slot, name, ${raw(summedColumns)} FROM usage_quarters
    WHERE ${storedSums('quarter', { ...question, from, to })} GROUP BY 1, 2`;
}

/** In chronological order. */
export async function firstByteTimes(postgres: Postgres, question: FirstByteQuery): Promise<FirstByteView> {
  const { by = 'day', names, stepMs } = question;
  const steps = askedSteps(question);
  if (steps.length === 0) return new FirstByteSteps(by, names).view;
  const moved = await postgres.ask(movedDaysSql);
  const movedDays = moved.rows.map(({ day }) => number(day) ?? 0);
  const countSql = stepMs % quarterMs === 0 ? countInSums : countInRequests;
  const pieces = steps.map(
    (
      step,
      stepIndex,
    ) => `(SELECT ${stepIndex} AS place, first_byte_ms, ${nameColumns[by]} AS name, (${countSql(step, movedDays)}) AS requests
      FROM requests WHERE ${inStep(step, movedDays)} AND ${isSampled}
      ORDER BY started_at DESC LIMIT ${samplesPerStep})`,
  );
  const { rows } = await postgres.ask(pieces.join(' UNION ALL '));
  const rowsByStep = Map.groupBy(rows, ({ place }) => number(place) ?? 0);
  const firstByteSteps = new FirstByteSteps(by, names);
  for (const [stepIndex, { startMs }] of steps.entries()) {
    const sampled = rowsByStep.get(stepIndex) ?? [];
    const weight = (number(sampled[0]?.requests) ?? 0) / sampled.length;
    const samples = sampled.map((row) => ({
      valueMs: number(row.first_byte_ms) ?? 0,
      name: text(row.name) ?? '',
      weight,
    }));
    firstByteSteps.add(startMs, samples);
  }
  return firstByteSteps.view;
}

/**
 * The numbers are part of the statement instead of parameters. Only then does PostgreSQL know how few rows match, and
 * reads just those.
 */
const inStep = ({ sinceMs, untilMs }: AskedStep, movedDays: readonly number[]) =>
  `(day BETWEEN ${Math.floor(sinceMs / dayMs)} AND ${Math.floor(untilMs / dayMs)}${movedDays.map((day) => ` OR day = ${day}`).join('')}) AND started_at >= ${sinceMs} AND started_at < ${untilMs}`;

/** The number of requests that the samples of a step represent. */
const countInRequests = (step: AskedStep, movedDays: readonly number[]) =>
  `SELECT count(*) FROM requests WHERE ${inStep(step, movedDays)}`;
const countInSums = ({
  sinceMs,
  untilMs,
}: AskedStep) => `SELECT sum(requests) FROM usage_quarters WHERE dimension = 'day'
  AND quarter >= ${Math.floor(sinceMs / quarterMs)} AND quarter < ${Math.ceil(untilMs / quarterMs)}`;

// Queries about sessions. Their sums are computed from the sessions' requests.

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
  const sessions = rows.map((row) => sessionViewOf(row, readBySession.get(text(row.id) ?? '') ?? nothing, stopAtUsd));
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
