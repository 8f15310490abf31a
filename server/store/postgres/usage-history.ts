/**
 * The usage of keys and groups so far at all replicas, for their limits. Queries made at the same moment, such as those
 * for all keys at a start, are combined.
 */

import type { CountedScope } from '../../contract/limits.ts';
import { dayMs, quarterMs } from '../../contract/units.ts';
import { BatchedQueries } from '../rules/batched-queries.ts';
import { number, type Row } from '../rules/columns.ts';
import { sql } from '../rules/condition-sql.ts';
import { ratedRequests } from '../rules/request-conditions.ts';
import { quartersPerDay } from '../sqlite/derived-rows.ts';
import type { SetAsideRows } from '../sqlite/set-aside-rows.ts';
import {
  type HistoryRange,
  type LedgerMoment,
  type PastRequest,
  plus,
  type RequestName,
  type Spent,
  type SpentQuery,
  toPast,
  toSpent,
  type UsageHistory,
} from '../sqlite/usage-history.ts';
import { orMoved } from './partitions.ts';
import { columnsOf, type Postgres, type Queries, readRows, unnest } from './postgres.ts';
import { moved } from './request-conditions.ts';

interface LateQuestion {
  scope: CountedScope;
  id: string;
  sinceMs: number;
}

/** Later than every quarter that a table can hold. */
const lastQuarter = 2 ** 31 - 1 - quartersPerDay;

const rangesTable = unnest({
  place: 'integer',
  dimension: 'text',
  name: 'text',
  first: 'integer',
  until: 'integer',
  first_day: 'integer',
  end_day: 'integer',
});
const partsOf = (table: string, time: string, first: string, end: string) =>
  `SELECT input_tokens + output_tokens AS tokens, cost_usd, unpriced_requests AS unpriced FROM ${table} AS sums
   WHERE sums.dimension = given.dimension AND sums.name = given.name AND ${time} >= ${first} AND ${time} < ${end}`;
/** Uses whole days where possible, and quarter-hours before and after them. */
const spentSql = `SELECT place, sum(tokens) AS tokens, sum(cost_usd) AS cost_usd, sum(unpriced) AS unpriced FROM ${rangesTable}, LATERAL (
    ${partsOf('usage_quarters', 'quarter', 'first', `least(until, first_day * ${quartersPerDay})`)}
    UNION ALL ${partsOf('usage_days', 'day', 'first_day', 'end_day')}
    UNION ALL ${partsOf('usage_quarters', 'quarter', `end_day * ${quartersPerDay}`, 'until')}
  ) AS cells GROUP BY place`;
const totalSql = `SELECT place, sum(tokens) AS tokens, sum(cost_usd) AS cost_usd
  FROM ${unnest({ place: 'integer', dimension: 'text', name: 'text' })} JOIN usage_totals USING (dimension, name) GROUP BY place`;
const endedSql = `SELECT id FROM requests WHERE ${orMoved('day = ANY($1)')} AND id = ANY($2) AND outcome IS NOT NULL`;
export class PostgresUsageHistory implements UsageHistory {
  readonly #postgres: Postgres;
  readonly #spent: BatchedQueries<SpentQuery, Spent>;
  readonly #late: BatchedQueries<LateQuestion, PastRequest[]>;
  readonly #setAside: SetAsideRows;

  constructor(postgres: Postgres, setAside: SetAsideRows) {
    this.#postgres = postgres;
    this.#setAside = setAside;
    this.#spent = new BatchedQueries((questions) => readSpent(postgres, questions));
    this.#late = new BatchedQueries((questions) => readLate(postgres, questions));
  }

  /** Counts requests that are written, and those that this replica has set aside. */
  async spent(scope: CountedScope, id: string, range: HistoryRange): Promise<Spent> {
    const question = { scope, id, range };
    return plus(await this.#spent.ask(question), this.#setAside.spent(question));
  }

  requestsSince(scope: CountedScope, id: string, sinceMs: number): Promise<PastRequest[]> {
    return this.#late.ask({ scope, id, sinceMs });
  }

  atSnapshot<T>(work: (ledgerMoment: LedgerMoment) => Promise<T>): Promise<T> {
    return this.#postgres.transaction(async (queries) => {
      await queries.script('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
      return work({
        spent: async (questions) => {
          const written = await readSpent(queries, questions);
          return questions.map((question, index) => plus(written[index] ?? nothing, this.#setAside.spent(question)));
        },
        ended: async (requests) => {
          const setAside = this.#setAside.counted(requests.map(({ id }) => id));
          return new Set([...(await readEnded(queries, requests)), ...setAside]);
        },
      });
    });
  }

  /** Bound, because it is passed as a callback. */
  readonly forgetTotal = async (scope: CountedScope, id: string): Promise<void> => {
    this.#setAside.forget(scope, id);
    await this.#postgres.ask('DELETE FROM usage_totals WHERE dimension = $1 AND name = $2', scope, id);
  };
}

const nothing: Spent = { usd: 0, tokens: 0, unpriced: 0 };

/**
 * Totals of the written requests that began in each range, in the order of the questions. `unpriced` is not available
 * for all time.
 */
async function readSpent(queries: Queries, questions: readonly SpentQuery[]): Promise<Spent[]> {
  const places = [...questions.entries()];
  const bounded = places.filter(([, { range }]) => Number.isFinite(range.startMs));
  const total = places.filter(([, { range }]) => !Number.isFinite(range.startMs));
  const allRows: Row[] = [];
  if (bounded.length > 0) {
    const { rows } = await queries.ask(
      spentSql,
      ...columnsOf(bounded.map(([index, { scope, id, range }]) => [index, scope, id, ...timesOf(range)])),
    );
    allRows.push(...rows);
  }
  if (total.length > 0) {
    const { rows } = await queries.ask(
      totalSql,
      ...columnsOf(total.map(([index, { scope, id }]) => [index, scope, id])),
    );
    allRows.push(...rows);
  }
  const spentByIndex = new Map(allRows.map((row) => [number(row.place), toSpent(row)]));
  return questions.map((_, index) => spentByIndex.get(index) ?? nothing);
}

async function readEnded(queries: Queries, requests: readonly RequestName[]): Promise<Set<string>> {
  if (requests.length === 0) return new Set();
  const days = requests.map(({ startedAt }) => Math.floor(startedAt / dayMs)).flatMap((day) => [day, day - 1]);
  const { rows } = await queries.ask(endedSql, [...new Set(days)], [...new Set(requests.map(({ id }) => id))]);
  return new Set(rows.map(({ id }) => String(id)));
}

async function readLate(postgres: Postgres, questions: readonly LateQuestion[]): Promise<PastRequest[][]> {
  const sinceMs = Math.min(...questions.map((question) => question.sinceMs));
  const requestsByOwner = new Map<string, PastRequest[]>();
  for (const scope of ['key', 'group'] as const) {
    const ids = questions.filter((question) => question.scope === scope).map(({ id }) => id);
    if (ids.length === 0) continue;
    const places = [moved(sql`day >= ${Math.floor(sinceMs / dayMs)}`)];
    for (const row of await readRows(postgres, ratedRequests({ scope, ids, sinceMs, places }))) {
      const request = toPast(row);
      const name = `${scope} ${row.id}`;
      const requests = requestsByOwner.get(name);
      if (requests) requests.push(request);
      else requestsByOwner.set(name, [request]);
    }
  }
  return questions.map(({ scope, id, sinceMs: since }) =>
    (requestsByOwner.get(`${scope} ${id}`) ?? []).filter(({ startedAt }) => startedAt >= since),
  );
}

/** The range in quarter-hours, and the whole days within it. */
function timesOf({ startMs, endMs }: HistoryRange): number[] {
  const first = Math.max(0, Math.floor(startMs / quarterMs));
  const until = Math.min(lastQuarter, Math.ceil(endMs / quarterMs));
  const firstDay = Math.ceil(first / quartersPerDay);
  return [first, until, firstDay, Math.max(firstDay, Math.floor(until / quartersPerDay))];
}
