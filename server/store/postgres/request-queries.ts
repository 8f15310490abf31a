/** Finds, sorts and counts requests in PostgreSQL. */

import { errors } from '../../contract/request-errors.ts';
import type { ClientUseView, RequestCount, RequestView } from '../../contract/request-views.ts';
import { dayMs } from '../../contract/units.ts';
import { ClientModels, type ClientModelUse, clientModelsSql } from '../rules/client-models.ts';
import { ClientUses, clientUsesSql, mostClientUses } from '../rules/client-uses.ts';
import { number } from '../rules/columns.ts';
import { postgresNotation, rowSql } from '../rules/condition-sql.ts';
import { toLedgerRow } from '../rules/rows.ts';
import { type UnpricedUse, UnpricedUses, unpricedUsesSql } from '../rules/unpriced-uses.ts';
import { maxSorted } from '../sqlite/find-requests.ts';
import type { RequestFilter, RequestPage } from '../sqlite/queries.ts';
import type { SortColumn } from '../sqlite/request-filter.ts';
import { type RequestConditions, timesOfId } from '../sqlite/request-filter.ts';
import type { Postgres } from './postgres.ts';
import { measureColumns, select } from './request-conditions.ts';

/** An id contains the time of its request, which may come from another clock. */
const idSlackMs = 60_000;
/** The most requests that a count reads; the newest are used. */
const mostCounted = 200_000;
const latestRows = 100_000;

export async function listRequests(postgres: Postgres, filter: RequestFilter): Promise<RequestPage> {
  const { limit: requestedLimit = 100, before, sort, ...conditions } = filter;
  const limit = Math.min(Math.max(requestedLimit, 1), 1_000);
  if (sort) return sortRequests(postgres, conditions, { ...sort, limit });
  const { sql, values } = await select(postgres, conditions);
  const earlier = before === undefined ? '' : `${sql === '' ? 'WHERE' : 'AND'} seq < ${Math.floor(before)}`;
  const { rows } = await postgres.ask(
    `SELECT * FROM requests ${sql} ${earlier} ORDER BY seq DESC LIMIT ${limit}`,
    ...values,
  );
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
  const column = measureColumns[by];
  const { sql, values } = await select(postgres, conditions);
  const newest = `SELECT *, ${column} AS sorted_by, row_number() OVER (ORDER BY seq DESC) AS place FROM requests
    ${sql === '' ? 'WHERE' : `${sql} AND`} outcome IS NOT NULL AND ${column} IS NOT NULL ORDER BY seq DESC LIMIT ${maxSorted + 1}`;
  const { rows } = await postgres.ask(
    `WITH newest AS (${newest}) SELECT *, (SELECT count(*) FROM newest) AS matching FROM newest WHERE place <= ${maxSorted}
     ORDER BY sorted_by ${isAscending ? 'ASC' : 'DESC'}, seq DESC LIMIT ${limit}`,
    ...values,
  );
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
  const { sql, values } = await select(postgres, filter);
  const newest = `SELECT outcome, fault FROM requests ${sql} ORDER BY seq DESC LIMIT ${mostCounted + 1}`;
  const { rows } = await postgres.ask(
    `SELECT count(*) AS requests, count(*) FILTER (WHERE ${rowSql(errors, postgresNotation)}) AS failed FROM (${newest}) AS newest`,
    ...values,
  );
  const requests = number(rows[0]?.requests) ?? 0;
  const failed = number(rows[0]?.failed) ?? 0;
  return { requests: Math.min(requests, mostCounted), failed, isComplete: requests <= mostCounted };
}

/** Considers the latest 100,000 requests. */
export async function listClients(postgres: Postgres): Promise<ClientUseView[]> {
  const { rows } = await postgres.ask(
    `WITH asked AS (SELECT client, key_id, started_at, shadow_of FROM requests ORDER BY seq DESC LIMIT ${latestRows})
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
    `WITH asked AS (SELECT * FROM requests ORDER BY seq DESC LIMIT ${latestRows})
     ${unpricedUsesSql('asked', postgresNotation)}`,
  );
  const uses = new UnpricedUses();
  uses.add(rows);
  return uses.list;
}
