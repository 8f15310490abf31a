/** Reads the counts of tokens in the usage of all APIs. Pure. */
import { isObject } from '../../../contract/is-object.ts';
import { numberOf } from '../number-of.ts';

/** Undefined if the value is no number. Google's JSON writes long counts as strings, and so do some services. */
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
