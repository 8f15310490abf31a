/** Reads the counts of tokens in the usage of all APIs. Pure. */
import { isObject } from '../../contract/is-object.ts';
import type { Usage } from '../../contract/ledger.ts';

/**
 * The number that a value of parsed JSON, or a text of a form, states; NaN if it is neither. `Number` would throw for an
 * object with a member `toString`, and for deeply nested lists.
 */
export function numberOf(value: unknown): number {
  return typeof value === 'number' || typeof value === 'string' ? Number(value) : Number.NaN;
}

/** The same for a count; null if it is not one. */
export function wholeNumberOf(value: unknown): number | null {
  const number = numberOf(value);
  return Number.isSafeInteger(number) && number >= 0 ? number : null;
}

/**
 * Reads the counts of tokens in the usage of all APIs. Pure.
 *
 * Undefined if the value is no number. Google's JSON writes long counts as strings, and so do some services.
 */
export function countOf(value: unknown): number | undefined {
  const count = typeof value === 'string' && value.trim() === '' ? Number.NaN : numberOf(value);
  return Number.isNaN(count) ? undefined : count;
}

/** The first of the values that is a number. */
export function firstCount(...values: readonly unknown[]): number | undefined {
  for (const value of values) {
    const count = countOf(value);
    if (count !== undefined) return count;
  }
  return undefined;
}

/** The sum of `count` over those elements of a list that satisfy `test`; 0 for anything else. */
export function sumOfCounts(list: unknown, name: string, test: (element: Record<string, unknown>) => boolean): number {
  const elements = Array.isArray(list) ? list.filter(isObject).filter(test) : [];
  return elements.reduce((sum, element) => sum + (countOf(element[name]) ?? 0), 0);
}

/** The most that a request and its response can amount to. */
export interface MostUsage {
  inputTokens: number;
  outputTokens: number;
  seconds: number;
}

export const unbounded: MostUsage = {
  inputTokens: Number.MAX_SAFE_INTEGER,
  outputTokens: Number.MAX_SAFE_INTEGER,
  seconds: Number.MAX_SAFE_INTEGER,
};

const partsOfInput = ['cachedInputTokens', 'cacheWriteTokens', 'audioInputTokens', 'imageInputTokens'] as const;
const partsOfOutput = ['reasoningTokens', 'audioOutputTokens', 'imageOutputTokens'] as const;

interface Plausible {
  usage: Usage;
  /** A reported value was dropped or rounded up. */
  isCorrected: boolean;
}

/**
 * Checks whether reported usage is plausible. A count that is negative, or impossibly large for the request and its
 * response, is dropped: a single one would corrupt the totals of its key and month permanently. Pure.
 */
export function plausibleUsage(reported: Usage, most: MostUsage): Plausible {
  const usage: Usage = {};
  keepTokens(usage, reported, { total: 'inputTokens', parts: partsOfInput, most: most.inputTokens });
  keepOneHour(usage, reported);
  keepTokens(usage, reported, { total: 'outputTokens', parts: partsOfOutput, most: most.outputTokens });
  if (reported.seconds !== undefined && isWithin(reported.seconds, most.seconds)) usage.seconds = reported.seconds;
  let isCorrected = false;
  for (const name in reported) {
    const field = name as keyof Usage;
    if (reported[field] !== usage[field]) isCorrected = true;
  }
  return { usage, isCorrected };
}

interface Side {
  total: 'inputTokens' | 'outputTokens';
  parts: readonly (keyof Usage)[];
  most: number;
}

/** Parts are bounded by the total; without a total, by `most`. */
function keepTokens(usage: Usage, reported: Usage, { total, parts, most }: Side): void {
  const sum = reported[total];
  if (sum !== undefined) {
    if (!isWithin(sum, most)) return;
    usage[total] = Math.ceil(sum);
  }
  for (const name of parts) {
    const part = reported[name];
    if (part !== undefined && isWithin(part, mostOf(name, sum ?? most, usage))) usage[name] = Math.ceil(part);
  }
}

/** What was read from a cache was not written to it. */
function mostOf(name: keyof Usage, total: number, { cachedInputTokens = 0 }: Usage): number {
  return name === 'cacheWriteTokens' ? total - cachedInputTokens : total;
}

function keepOneHour(usage: Usage, { cacheWriteOneHourTokens: part }: Usage): void {
  if (part !== undefined && isWithin(part, usage.cacheWriteTokens ?? 0))
    usage.cacheWriteOneHourTokens = Math.ceil(part);
}

const isWithin = (value: number, max: number) => value >= 0 && value <= max;
