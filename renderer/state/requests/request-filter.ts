/**
 * Filter and order of the list of requests. Both are part of the address, so that links, Back and reload keep them:
 *
 *     #/requests?q=timeout&outcome=failed&model=gpt-5&provider=openai&key=k1&group=default&client=…&capability=chat
 *               &is=pinned&status=4xx&cost=>0.05&duration=>10000&range=24h&sort=-cost
 *
 * - `q`: the search; `outcome`, `status`, `model`, `provider`, `capability` and `client` as in the query `requests`; `key` and
 *   `group` are ids.
 * - `cost`, `tokens`, `duration` and `first-byte` (in milliseconds): compared with a number.
 * - `is=pinned`: only pinned requests.
 * - `range`: the latest `1h`, `24h`, `7d` or `30d`; or `since` and `until` (exclusive) in Unix milliseconds.
 * - `sort`: `duration`, `cost`, `tokens` or `first-byte`, with `-` before it for the highest first; absent: newest first.
 */

import { comparisonPattern, outcomes, statusPattern } from '../../../server/contract/comparison.ts';
import { nameOfClient } from '../../../server/contract/known-clients.ts';
import { operations } from '../../../server/contract/operations.ts';
import type { QueryInputMap, RequestFilterInput } from '../../../server/contract/queries.ts';
import { rangeMs, ranges, type TimeRange } from '../../../server/contract/request-filter.ts';

/** What a filter for clients can be, of those that are recorded: all versions of a client are one. */
export function clientOptions(recorded: readonly string[]): { value: string; label: string }[] {
  const names = new Set(recorded.filter((client) => client !== '').map(nameOfClient));
  return [...names].sort((one, other) => one.localeCompare(other)).map((value) => ({ value, label: value }));
}

export const sorts = ['duration', 'cost', 'tokens', 'first-byte'] as const;
export type SortBy = (typeof sorts)[number];
export const statusClasses = ['2xx', '4xx', '5xx'] as const;

interface Sort {
  by: SortBy;
  isAscending: boolean;
}

/** As in the address: a range stays relative to the current time. */
export interface ShownFilter extends Omit<RequestFilterInput, 'search'> {
  search?: string;
  range?: TimeRange;
  sort?: Sort;
}

const texts = {
  model: 'model',
  provider: 'provider',
  key: 'keyId',
  group: 'groupId',
  client: 'client',
  q: 'search',
} as const;
const compared = { cost: 'cost', duration: 'durationMs', 'first-byte': 'firstByteMs', tokens: 'tokens' } as const;
const times = { since: 'sinceMs', until: 'untilMs' } as const;

export function filterOf(address: URLSearchParams): ShownFilter {
  const filter: ShownFilter = {};
  for (const [name, field] of Object.entries(texts)) {
    const value = address.get(name);
    if (value) filter[field as (typeof texts)[keyof typeof texts]] = value;
  }
  for (const [name, field] of Object.entries(compared)) {
    const value = address.get(name) ?? '';
    if (comparisonPattern.test(value)) filter[field as (typeof compared)[keyof typeof compared]] = value;
  }
  for (const [name, field] of Object.entries(times)) {
    const value = Number(address.get(name) ?? Number.NaN);
    if (Number.isSafeInteger(value) && value >= 0) filter[field as 'sinceMs' | 'untilMs'] = value;
  }
  const outcome = outcomes.find((each) => each === address.get('outcome'));
  const capability = operations.find((each) => each === address.get('capability'));
  const range = ranges.find((each) => each === address.get('range'));
  const status = address.get('status') ?? '';
  const sort = sortOf(address.get('sort') ?? '');
  return {
    ...filter,
    ...(outcome && { outcome }),
    ...(capability && { capability }),
    ...(statusPattern.test(status) && { status }),
    ...(address.get('is') === 'pinned' && { pinned: true as const }),
    ...(range && { range }),
    ...(sort && { sort }),
  };
}

/** The filter as the query string of an address, including the `?`; empty if nothing is filtered. */
export function searchOf(filter: ShownFilter): string {
  const { outcome, capability, status, range, sort } = filter;
  const address = new URLSearchParams();
  const add = (name: string, value: string | number | undefined) =>
    value !== undefined && address.set(name, `${value}`);
  add('q', filter.search);
  add('outcome', outcome);
  add('status', status);
  for (const name of ['model', 'provider', 'key', 'group', 'client'] as const) add(name, filter[texts[name]]);
  for (const [name, field] of Object.entries(compared))
    add(name, filter[field as (typeof compared)[keyof typeof compared]]);
  add('capability', capability);
  add('is', filter.pinned && 'pinned');
  add('range', range);
  add('since', filter.sinceMs);
  add('until', filter.untilMs);
  add('sort', sort && sortTextOf(sort));
  const text = address.toString();
  return text && `?${text}`;
}

/** The address of a request's details within the filtered list. */
export function hrefOf(id: string, search: string): string {
  return `/requests/${encodeURIComponent(id)}${search}`;
}

/** Parses the order in an address; null for newest first. */
export function sortOf(text: string): Sort | null {
  const by = sorts.find((each) => each === text.replace(/^-/, ''));
  return by ? { by, isAscending: !text.startsWith('-') } : null;
}

export function sortTextOf({ by, isAscending }: Sort): string {
  return `${isAscending ? '' : '-'}${by}`;
}

/** The filter in the form that the engine expects. A range ends at `nowMs`. */
export function queryOf({ range, sort: _, search, ...filter }: ShownFilter, nowMs: number): RequestFilterInput {
  const text = search?.trim();
  return {
    ...filter,
    ...(text && { search: text.slice(0, 200) }),
    ...(range && { sinceMs: nowMs - rangeMs[range] }),
  };
}

export function sortQueryOf({ sort }: ShownFilter): Pick<QueryInputMap['requests'], 'sort'> {
  return sort ? { sort } : {};
}

/**
 * Whether live requests can be added to the list as they arrive. Only the engine can tell whether a search matches
 * them or whether they are pinned.
 */
export function isLive({ search, sort, pinned }: ShownFilter): boolean {
  return search === undefined && sort === undefined && pinned === undefined;
}

/** Formats parameters as a query string; empty if there are none. */
export function addressOf(parameters: Readonly<Record<string, unknown>>): string {
  const values = Object.entries(parameters).filter(([, value]) => value !== undefined);
  const search = new URLSearchParams(values.map(([name, value]) => [name, String(value)])).toString();
  return search && `?${search}`;
}
