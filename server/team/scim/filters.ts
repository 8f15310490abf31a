/** Filters of a list, and which part of it is asked for (RFC 7644, 3.4.2). Pure. */
import type { ScimGroupFilter, ScimRange, ScimUserFilter } from '../../store/ports/scim-store.ts';
import { unquoted, withoutSchema } from './attributes.ts';
import { invalid } from './scim-error.ts';

/** No list is longer. */
export const maxResults = 200;

type Asked = Readonly<Record<string, unknown>>;

const userAttributes: Readonly<Record<string, keyof ScimUserFilter>> = {
  id: 'id',
  username: 'userName',
  externalid: 'externalId',
  active: 'active',
  emails: 'email',
  'emails.value': 'email',
  'emails[type eq "work"].value': 'email',
};

const groupAttributes: Readonly<Record<string, keyof ScimGroupFilter>> = {
  id: 'id',
  displayname: 'displayName',
  externalid: 'externalId',
  members: 'member',
  'members.value': 'member',
};

export function userFilter({ filter }: Asked): ScimUserFilter {
  const { active, ...texts } = comparisons(filter, userAttributes);
  if (active !== undefined && !/^(?:true|false)$/i.test(active))
    throw invalid('active is true or false.', 'invalidFilter');
  return { ...texts, ...(active !== undefined && { active: active.toLowerCase() === 'true' }) };
}

export function groupFilter({ filter }: Asked): ScimGroupFilter {
  return comparisons(filter, groupAttributes);
}

const comparison = /\s*([a-z][\w:.]*(?:\[[^\]]*\]\.\w+)?)\s+eq\s+("(?:[^"\\]|\\.)*"|[^\s"()]+)\s*(?:\band\b|$)/iy;

/** `userName eq "mia" and externalId eq "1"`. The one of each attribute must be the same. */
function comparisons<Name extends string>(
  filter: unknown,
  attributes: Readonly<Record<string, Name>>,
): Partial<Record<Name, string>> {
  const found: Partial<Record<Name, string>> = {};
  if (filter === undefined) return found;
  const text = String(filter);
  comparison.lastIndex = 0;
  do {
    const [, path = '', value = ''] = comparison.exec(text) ?? [];
    const local = withoutSchema(path).toLowerCase();
    const name = Object.hasOwn(attributes, local) ? attributes[local] : undefined;
    if (name === undefined || (found[name] ?? unquoted(value)) !== unquoted(value))
      throw invalid(`Only "eq" and "and" are supported, of ${Object.keys(attributes).join(', ')}.`, 'invalidFilter');
    found[name] = unquoted(value);
  } while (comparison.lastIndex < text.length);
  return found;
}

export function rangeOf({ startIndex, count }: Asked): ScimRange {
  return {
    skip: Math.max(1, wholeNumber('startIndex', startIndex, 1)) - 1,
    limit: Math.min(maxResults, Math.max(0, wholeNumber('count', count, maxResults))),
  };
}

function wholeNumber(name: string, value: unknown, otherwise: number): number {
  if (value === undefined) return otherwise;
  const number = Number(value);
  if (Number.isSafeInteger(number)) return number;
  throw invalid(`${name} is a whole number.`);
}

/** Without the attributes that are not asked for: `attributes=userName`, `excludedAttributes=members`. */
export function asked<Resource extends object>(resource: Resource, { attributes, excludedAttributes }: Asked): object {
  const only = namesIn(attributes);
  const without = namesIn(excludedAttributes);
  const isKept = (name: string) =>
    always.has(name) || ((only.size === 0 || only.has(name.toLowerCase())) && !without.has(name.toLowerCase()));
  return Object.fromEntries(Object.entries(resource).filter(([name]) => isKept(name)));
}

const always = new Set(['schemas', 'id']);

/** The attributes in the list, of which a part may be named: `name.givenName`. */
function namesIn(list: unknown): Set<string> {
  const names = typeof list === 'string' ? list.split(',') : [];
  return new Set(names.map((name) => withoutSchema(name.trim()).toLowerCase().replace(/\..*$/, '')).filter(Boolean));
}
