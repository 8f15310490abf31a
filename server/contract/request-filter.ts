/**
 * The filter of requests: which fit it, and the language in which people write it:
 *
 *     model:gpt-5 status:>=500 cost:>0.05 duration:>10s key:ci client:"aider/0.86 (x)" gate
 *
 * Conditions are combined with AND. Words without a field are searched, as is `text:"…"`. Pure.
 */

import {
  type ComparedField,
  comparedFields,
  compares,
  comparisonOf,
  comparisonPattern,
  fitsStatus,
  outcomes,
  statusPattern,
} from './comparison.ts';
import { isFailed, verdictOf } from './count.ts';
import { isClient } from './known-clients.ts';
import { operations } from './operations.ts';
import type { RequestFilterInput } from './queries.ts';
import type { RequestView } from './request-views.ts';
import { dayMs, hourMs } from './units.ts';

export const ranges = ['1h', '24h', '7d', '30d'] as const;
export type TimeRange = (typeof ranges)[number];
export const rangeMs: Record<TimeRange, number> = {
  '1h': hourMs,
  '24h': dayMs,
  '7d': 7 * dayMs,
  '30d': 30 * dayMs,
};

type FilteredRequest = Pick<
  RequestView,
  | 'outcome'
  | 'status'
  | 'errorCode'
  | 'modelAsked'
  | 'modelServed'
  | 'provider'
  | 'keyId'
  | 'groupId'
  | 'client'
  | 'capability'
  | 'startedAt'
  | 'costUsd'
  | 'totalMs'
  | 'firstByteMs'
  | 'usage'
  | 'fault'
>;

/** Whether a request fits, as the ledger has it, except for `search` and `pinned`. */
export function fitsFilter(request: FilteredRequest, filter: RequestFilterInput): boolean {
  const { outcome, status, model, provider, keyId, groupId, client, capability, sinceMs, untilMs } = filter;
  return (
    (outcome === undefined || hasOutcome(request, outcome)) &&
    (status === undefined || (request.status !== null && fitsStatus(request.status, status))) &&
    (model === undefined || request.modelAsked === model || request.modelServed === model) &&
    (provider === undefined || request.provider === provider) &&
    (keyId === undefined || request.keyId === keyId) &&
    (groupId === undefined || request.groupId === groupId) &&
    (client === undefined || (request.client !== null && isClient(request.client, client))) &&
    (capability === undefined || request.capability === capability) &&
    (sinceMs === undefined || request.startedAt >= sinceMs) &&
    (untilMs === undefined || request.startedAt < untilMs) &&
    comparedFields.every((field) => fitsComparison(request, field, filter[field]))
  );
}

function hasOutcome(request: FilteredRequest, filtered: (typeof outcomes)[number]): boolean {
  return filtered === 'failed' ? isFailed(request) : verdictOf(request) === filtered;
}

/** While a request runs, its cost and usage are what it has reserved. */
function fitsComparison(request: FilteredRequest, field: ComparedField, condition: string | undefined): boolean {
  if (condition === undefined) return true;
  const value = request.outcome === null ? null : measures[field](request);
  return value !== null && compares(value, condition);
}

const measures: Record<ComparedField, (request: FilteredRequest) => number | null> = {
  cost: ({ costUsd }) => costUsd,
  durationMs: ({ totalMs }) => totalMs,
  firstByteMs: ({ firstByteMs }) => firstByteMs,
  tokens: ({ usage }) => (usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0),
};

/** What people write; a range ends now. */
type WrittenFilter = RequestFilterInput & { range?: TimeRange };

export const filterFields = [
  'model',
  'provider',
  'key',
  'group',
  'client',
  'status',
  'outcome',
  'capability',
  'cost',
  'duration',
  'first-byte',
  'tokens',
  'range',
  'since',
  'until',
  'is',
  'text',
] as const;
export type FilterField = (typeof filterFields)[number];

/** Where the filter has the value of a field. */
const placeOf = {
  model: 'model',
  provider: 'provider',
  key: 'keyId',
  group: 'groupId',
  client: 'client',
  status: 'status',
  outcome: 'outcome',
  capability: 'capability',
  cost: 'cost',
  duration: 'durationMs',
  'first-byte': 'firstByteMs',
  tokens: 'tokens',
  range: 'range',
  since: 'sinceMs',
  until: 'untilMs',
  is: 'pinned',
  text: 'search',
} as const satisfies Record<FilterField, keyof WrittenFilter>;

/** What to write after a field whose values are not listed. */
export const filterExamples: Partial<Record<FilterField, string>> = {
  status: '>=500',
  cost: '>0.05',
  duration: '>10s',
  'first-byte': '>2s',
  tokens: '>10000',
  since: '2026-11-20',
  until: '2026-11-21',
  text: '"gate"',
};

export interface FilterCondition {
  field: FilterField;
  /** As people write it, without quotes. */
  value: string;
}

/** The filter with one more condition, in place of any of the same field. Null if the value is none of the field. */
export function withCondition<Filter extends WrittenFilter>(
  filter: Filter,
  { field, value }: FilterCondition,
): Filter | null {
  const read = readValue(field, value.trim());
  if (read === null) return null;
  const next = withoutCondition(filter, field);
  return {
    ...(field === 'range' ? withoutCondition(withoutCondition(next, 'since'), 'until') : next),
    [placeOf[field]]: read,
  };
}

export function withoutCondition<Filter extends WrittenFilter>(filter: Filter, field: FilterField): Filter {
  const next = { ...filter };
  delete next[placeOf[field]];
  return next;
}

/** In the order of the fields. */
export function conditionsOf(filter: WrittenFilter): FilterCondition[] {
  return filterFields.flatMap((field) => {
    const value = filter[placeOf[field]];
    return value === undefined ? [] : [{ field, value: writtenValue(field, value) }];
  });
}

/** As `readFilterText` reads it. */
export function conditionText({ field, value }: FilterCondition): string {
  return `${field}:${/[\s"]/.test(value) || value === '' ? JSON.stringify(value) : value}`;
}

interface ReadFilterText {
  filter: WrittenFilter;
  /** Words without a field. */
  words: string;
  /** Conditions whose value is none of their field, as they are written. */
  wrong: string[];
}

/** A field and a value, whose quotes may be open, or what has neither. */
const token = /(?:([a-z-]{1,20}):)?(?:"((?:[^"\\]|\\.)*)"?|([^\s"]\S*))/gy;

/** Reads a text in one pass. Later conditions replace earlier ones of the same field. */
export function readFilterText(text: string): ReadFilterText {
  let filter: WrittenFilter = {};
  const words: string[] = [];
  const wrong: string[] = [];
  for (const part of partsOf(text)) {
    if (part.condition === null) words.push(part.text);
    else {
      const next = withCondition(filter, part.condition);
      if (next) filter = next;
      else wrong.push(part.text);
    }
  }
  return { filter, words: words.join(' '), wrong };
}

interface TextPart {
  /** As it is written. */
  text: string;
  /** Null for a word without a field. */
  condition: FilterCondition | null;
}

/** The conditions and words of a text, in order. */
export function partsOf(text: string): TextPart[] {
  const parts: TextPart[] = [];
  for (let at = 0; at < text.length; ) {
    token.lastIndex = at;
    const found = /\s/.test(text[at] ?? '') ? null : token.exec(text);
    if (found === null) {
      // Space, or a field without a value, which is written still.
      const open = /^[a-z-]{1,20}:(?=\s|$)/.exec(text.slice(at, at + 30))?.[0];
      if (open !== undefined) parts.push({ text: open, condition: null });
      at += open?.length ?? 1;
      continue;
    }
    at = token.lastIndex;
    const [whole, name, quoted, plain] = found;
    const field = filterFields.find((each) => each === name);
    const value = quoted === undefined ? (plain ?? '') : quoted.replaceAll(/\\(.)/g, '$1');
    parts.push({ text: whole, condition: field === undefined ? null : { field, value } });
  }
  return parts;
}

/** Null if it is no value of the field. */
function readValue(field: FilterField, value: string): string | number | true | null {
  switch (field) {
    case 'status':
      return statusPattern.test(value.toLowerCase()) ? value.toLowerCase() : null;
    case 'outcome':
      return outcomes.find((each) => each === value) ?? null;
    case 'capability':
      return operations.find((each) => each === value) ?? null;
    case 'range':
      return ranges.find((each) => each === value) ?? null;
    case 'cost':
      return comparisonPattern.test(value.replace('$', '')) ? value.replace('$', '') : null;
    case 'tokens':
      return comparisonPattern.test(value) ? value : null;
    case 'duration':
    case 'first-byte':
      return readDuration(value);
    case 'since':
    case 'until': {
      const timeMs = Date.parse(value);
      return Number.isFinite(timeMs) && timeMs >= 0 ? timeMs : null;
    }
    case 'is':
      return value === 'pinned' || null;
    case 'text':
      return value === '' ? null : value.slice(0, 200);
    default:
      return value === '' ? null : value;
  }
}

const unitMs = { ms: 1, s: 1_000, m: 60_000, '': 1_000 } as const;

/** `>10s` as `>10000`. */
function readDuration(value: string): string | null {
  const [, sign, amount, unit = ''] = /^(>=|<=|>|<)(\d{1,9}(?:\.\d{1,6})?)(ms|s|m)?$/.exec(value) ?? [];
  return sign === undefined ? null : `${sign}${Number(amount) * unitMs[unit as keyof typeof unitMs]}`;
}

function writtenValue(field: FilterField, value: string | number | true): string {
  if (value === true) return 'pinned';
  if (typeof value === 'number') return new Date(value).toISOString();
  if (field !== 'duration' && field !== 'first-byte') return value;
  const { sign, value: ms } = comparisonOf(value);
  return ms % 1_000 === 0 ? `${sign}${ms / 1_000}s` : `${sign}${ms}ms`;
}
