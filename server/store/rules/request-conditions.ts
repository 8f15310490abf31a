/** The conditions of a request filter, and how requests are sorted and counted: once, for both databases. */

import {
  type ComparedField,
  type Comparison,
  comparedFields,
  comparisonOf,
  fitsStatus,
  type outcomes,
} from '../../contract/comparison.ts';
import { errorOutcomes, failed, judgedAs, refused, usesRate } from '../../contract/count.ts';
import type { CountedScope } from '../../contract/limits.ts';
import type { Operation } from '../../contract/operations.ts';
import type { Within } from '../../contract/people.ts';
import type { RequestCount } from '../../contract/request-views.ts';
import { number, type Row, text } from './columns.ts';
import {
  allOf,
  anyOf,
  asNumber,
  holds,
  isAmong,
  raw,
  rowSql,
  type Sql,
  type SqlNotation,
  sql,
} from './condition-sql.ts';

/** A request that a search finds. Its time says where in the store it is. */
export interface FoundRequest {
  id: string;
  startedAt: number;
}

/** All given conditions must hold. */
export interface RequestConditions {
  keyId?: string;
  groupId?: string;
  /** The requested name or the upstream's. */
  model?: string;
  provider?: string;
  /** One of these. */
  client?: string | readonly string[];
  capability?: Operation;
  /** A verdict, or `failed`. */
  outcome?: (typeof outcomes)[number];
  /** `404`, `4xx` for a class, or `>=500`. */
  status?: string;
  /** `>0.05`, in US dollars. */
  cost?: string;
  durationMs?: string;
  firstByteMs?: string;
  tokens?: string;
  /** In ids, names of models, providers and clients, errors, captured bodies, and notes of pinned requests. */
  search?: string;
  /** What the search finds besides: requests whose contents the store does not have. */
  foundElsewhere?: readonly FoundRequest[];
  sinceMs?: number;
  /** Exclusive. */
  untilMs?: number;
  /** Absent: all requests. */
  within?: Within;
}

/** The names by which requests can be looked up. `model`: the requested name and the upstream's. */
export const nameDimensions = [
  'key',
  'group',
  'provider',
  'model',
  'client',
  'capability',
  'status',
  'outcome',
  'error',
] as const;
export type NameDimension = (typeof nameDimensions)[number];

const columnsOf: Readonly<Record<NameDimension, readonly string[]>> = {
  key: ['key_id'],
  group: ['group_id'],
  provider: ['provider'],
  model: ['model_asked', 'model_served'],
  client: ['client'],
  capability: ['capability'],
  status: ['status'],
  outcome: ['outcome'],
  error: ['error_code'],
};

/** The names of a dimension: a list, or those recorded ones that fit. */
interface AskedNames {
  dimension: NameDimension;
  names: readonly string[] | ((name: string) => boolean);
}

/** A condition, and where the requests for which it holds can be: a database reads no others. */
export interface AskedCondition {
  condition: Sql;
  /** Each has one of these. Absent: any. */
  names?: readonly AskedNames[];
  /** Unix milliseconds; `untilMs` is exclusive. */
  times?: { sinceMs?: number | undefined; untilMs?: number | undefined };
}

/** All but the search, which each database has its own index for. */
export function conditionsOf(filter: RequestConditions): AskedCondition[] {
  const { keyId, groupId, provider, client, capability, model, status, outcome, sinceMs, untilMs, within } = filter;
  const wanted = { key: keyId, group: groupId, provider, client, capability, model };
  return [
    ...(within ? [ofKeysAndGroups(within)] : []),
    ...Object.entries(wanted).flatMap(([dimension, name]) =>
      name === undefined ? [] : [named(dimension as NameDimension, [name].flat())],
    ),
    ...(status === undefined ? [] : [statusCondition(status)]),
    ...outcomeConditions(outcome),
    ...(sinceMs === undefined && untilMs === undefined ? [] : [during({ sinceMs, untilMs })]),
    ...comparedFields.flatMap((field) => {
      const text = filter[field];
      return text === undefined ? [] : [comparedWith(field, comparisonOf(text))];
    }),
  ];
}

/** One of the dimension's columns has one of the names. */
function named(dimension: NameDimension, names: readonly string[]): AskedCondition {
  const condition = anyOf(columnsOf[dimension].map((column) => isAmong(column, names)));
  return { condition, names: [{ dimension, names }] };
}

function ofKeysAndGroups({ keyIds, groupIds }: Within): AskedCondition {
  const [ofKeys, ofGroups] = [named('key', keyIds), named('group', groupIds)];
  return {
    condition: anyOf([ofKeys.condition, ofGroups.condition]),
    names: [...(ofKeys.names ?? []), ...(ofGroups.names ?? [])],
  };
}

function statusCondition(status: string): AskedCondition {
  const names = (name: string) => fitsStatus(Number(name), status);
  return { condition: statusSql(status), names: [{ dimension: 'status', names }] };
}

function statusSql(status: string): Sql {
  if (status.endsWith('xx')) {
    const low = Number.parseInt(status.replace('xx', '00'), 10);
    return sql`status BETWEEN ${low} AND ${low + 99}`;
  }
  const { sign, value } = comparisonOf(status);
  return sql`status ${raw(sign)} ${value}`;
}

/** What a wanted outcome asks of a row, and the outcomes with which it can be. */
function outcomeConditions(outcome: RequestConditions['outcome']): AskedCondition[] {
  if (outcome === undefined) return [];
  if (outcome === 'running') return [{ condition: raw('outcome IS NULL') }];
  const condition = { condition: holds(outcome === 'failed' ? failed : judgedAs(outcome)) };
  if (outcome === 'failed' || outcome === 'fault') return [named('outcome', errorOutcomes), condition];
  return [named('outcome', [outcome === 'refused' ? 'error' : outcome]), condition];
}

function during(times: { sinceMs: number | undefined; untilMs: number | undefined }): AskedCondition {
  const { sinceMs, untilMs } = times;
  const since = sinceMs === undefined ? [] : [sql`started_at >= ${sinceMs}`];
  const until = untilMs === undefined ? [] : [sql`started_at < ${untilMs}`];
  return { condition: allOf([...since, ...until]), times };
}

const tokensIn = (name: string) => `coalesce(CAST(usage ->> '${name}' AS double precision), 0)`;
const tokens = `${tokensIn('inputTokens')} + ${tokensIn('outputTokens')}`;

/** The columns by which requests are compared and sorted. */
const measures = { duration: 'total_ms', cost: 'cost_usd', 'first-byte': 'first_byte_ms', tokens } as const;
export type SortColumn = keyof typeof measures;

/** The name of a compared field among the columns. */
const measureOf: Record<ComparedField, SortColumn> = {
  cost: 'cost',
  durationMs: 'duration',
  firstByteMs: 'first-byte',
  tokens: 'tokens',
};

/** A request that runs has only reserved what its columns say. */
function comparedWith(field: ComparedField, { sign, value }: Comparison): AskedCondition {
  const measure = raw(measures[measureOf[field]]);
  return { condition: sql`(outcome IS NOT NULL AND ${measure} ${raw(sign)} CAST(${value} AS double precision))` };
}

/** The value by which requests are sorted, and the condition that a request has one; others are left out of a sorted list. */
export function sortedBy(column: SortColumn): { value: string; hasValue: string } {
  const value = measures[column];
  return { value, hasValue: `outcome IS NOT NULL AND ${value} IS NOT NULL` };
}

/** Requests that are sorted; of more than these, the newest. */
export const maxSorted = 10_000;
/** Requests that a count considers; of more than these, the newest. */
export const maxCounted = 200_000;
/** Requests in which clients and models without a price are looked for: the latest. */
export const latestRequests = 100_000;

/** The columns of a count: `requests`, and of them `failed` and `refused`. They read the columns of `countedColumns`. */
export const countColumns = (notation: SqlNotation) =>
  `count(*) AS requests, sum(${asNumber(rowSql(failed, notation))}) AS failed, ` +
  `sum(${asNumber(rowSql(refused, notation))}) AS refused`;
export const countedColumns = 'outcome, fault, provider, status';

/** What a row of `countColumns` says. */
export function readCount(row: Row | undefined): Pick<RequestCount, 'requests' | 'failed' | 'refused'> {
  const { requests, failed, refused } = row ?? {};
  return { requests: number(requests) ?? 0, failed: number(failed) ?? 0, refused: number(refused) ?? 0 };
}

/** The requests of some keys or groups that count against a rate; all that still run do. `places`: where they can be. */
interface Rated {
  scope: CountedScope;
  ids: readonly string[];
  sinceMs: number;
  places: readonly Sql[];
}

/** In order of arrival: `id` of the key or group, `started_at` and `tokens`. */
export function ratedRequests({ scope, ids, sinceMs, places }: Rated): Sql {
  const [column = ''] = columnsOf[scope];
  const counts = sql`(outcome IS NULL OR ${holds(usesRate)}) AND shadow_of IS NULL`;
  const condition = allOf([...places, isAmong(column, ids), sql`started_at >= ${sinceMs}`, counts]);
  return sql`SELECT ${raw(column)} AS id, started_at, ${raw(tokens)} AS tokens FROM requests WHERE ${condition} ORDER BY seq`;
}

/** Where a search looks for names. */
const searchedDimensions = ['model', 'provider', 'client', 'error'] as const;

/** Requests with one of the recorded names that contain the search. */
export function namesFound(
  search: string,
  recorded: Readonly<Record<(typeof searchedDimensions)[number], readonly string[]>>,
): AskedCondition[] {
  return searchedDimensions.flatMap((dimension) => {
    const names = recorded[dimension].filter((name) => containsText(name, search));
    return names.length === 0 ? [] : [named(dimension, names)];
  });
}

/** Of pinned requests, in rows with `id`, `started_at` and `note`, those whose note contains the search. */
export function notesFound(search: string, pins: readonly Row[]): FoundRequest[] {
  return pins
    .filter(({ note }) => containsText(text(note) ?? '', search))
    .map((pin) => ({ id: text(pin.id) ?? '', startedAt: number(pin.started_at) ?? 0 }));
}

/** `rate limit` is in `rate_limit_exceeded`. */
const plainText = (text: string) => text.toLowerCase().replaceAll(/[_\s-]+/g, ' ');
/** Whether a name contains a search, whatever separates its words. */
const containsText = (name: string, search: string) => plainText(name).includes(plainText(search));

/** An id contains the time of its request; the row may have been inserted a little earlier or later, or by another clock. */
export const idSlackMs = 60_000;
const timeDigits = 12;

/** The times that an id with this beginning can contain; null if it is none. */
export function timesOfId(search: string): { sinceMs: number; untilMs: number } | null {
  const [, digits] = /^req_([0-9a-f]{1,32})$/i.exec(search) ?? [];
  if (digits === undefined) return null;
  const time = digits.slice(0, timeDigits);
  return {
    sinceMs: Number.parseInt(time.padEnd(timeDigits, '0'), 16),
    untilMs: Number.parseInt(time.padEnd(timeDigits, 'f'), 16),
  };
}

/** Requests whose id begins with the search; null if no id does. */
export function idFound(search: string): (AskedCondition & { times: { sinceMs: number; untilMs: number } }) | null {
  const times = timesOfId(search);
  if (!times) return null;
  const near = { sinceMs: times.sinceMs - idSlackMs, untilMs: times.untilMs + idSlackMs };
  return { condition: ({ notation, value }) => notation.startsWith('id', value(search.toLowerCase())), times: near };
}
