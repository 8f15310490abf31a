/** Finds, sorts and counts requests in PostgreSQL. */

import type { ClientUseView, RequestCount, RequestView } from '../../contract/request-views.ts';
import { dayMs } from '../../contract/units.ts';
import {
  ClientModels,
  type ClientModelUse,
  ClientUses,
  clientModelsSql,
  clientUsesSql,
  mostClientUses,
} from '../rules/client-models.ts';
import { number } from '../rules/columns.ts';
import { allOf, literal, postgresNotation, raw, sql } from '../rules/condition-sql.ts';
import {
  countColumns,
  idSlackMs,
  latestRequests,
  maxCounted,
  maxSorted,
  type RequestConditions,
  type SortColumn,
  sortedBy,
  timesOfId,
} from '../rules/request-conditions.ts';
import { toLedgerRow } from '../rules/rows.ts';
import { type UnpricedUse, UnpricedUses, unpricedUsesSql } from '../rules/unpriced-uses.ts';
import type { RequestFilter, RequestPage } from '../sqlite/queries.ts';
import { type Postgres, readRows } from './postgres.ts';
import { conditionOf } from './request-conditions.ts';

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
  const newest = sql`SELECT outcome, fault FROM requests WHERE ${await conditionOf(postgres, filter)}
    ORDER BY seq DESC LIMIT ${literal(maxCounted + 1)}`;
  const count = sql`SELECT ${raw(countColumns(postgresNotation))} FROM (${newest}) AS newest`;
  const rows = await readRows(postgres, count);
  const requests = number(rows[0]?.requests) ?? 0;
  const failed = number(rows[0]?.failed) ?? 0;
  return { requests: Math.min(requests, maxCounted), failed, isComplete: requests <= maxCounted };
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
