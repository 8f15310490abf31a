/** What the conditions of a filter of requests may say, and how values are compared with them. Pure. */
import type { Verdict } from './count.ts';

/** The verdicts on requests, and `failed` for any of those that count as failures. */
export const outcomes = [
  'ok',
  'failed',
  'refused',
  'error',
  'stream-broken',
  'interrupted',
  'client-gone',
  'fault',
  'running',
] as const satisfies readonly (Verdict | 'failed')[];
/** An exact status, a class such as `4xx`, or a comparison such as `>=500`. */
export const statusPattern = /^(?:(?:>=|<=|>|<)?[1-5]\d\d|[1-5]xx)$/;
/** What is compared with a number: `>0.05`. */
export const comparisonPattern = /^(?:>=|<=|>|<)\d{1,12}(?:\.\d{1,12})?$/;
export const comparedFields = ['cost', 'durationMs', 'firstByteMs', 'tokens'] as const;
export type ComparedField = (typeof comparedFields)[number];

export interface Comparison {
  sign: '>=' | '<=' | '>' | '<' | '=';
  value: number;
}

/** Of a text that fits one of the patterns, but for classes of status. */
export function comparisonOf(text: string): Comparison {
  const sign = (['>=', '<=', '>', '<'] as const).find((each) => text.startsWith(each));
  return { sign: sign ?? '=', value: Number(text.slice(sign?.length ?? 0)) };
}

/** Whether a status fits the condition of a filter. */
export function fitsStatus(status: number, condition: string): boolean {
  return condition.endsWith('xx') ? String(status).startsWith(condition.slice(0, 1)) : compares(status, condition);
}

/** Of a comparison, or of an exact number. */
export function compares(value: number, condition: string): boolean {
  const { sign, value: bound } = comparisonOf(condition);
  if (sign === '=') return value === bound;
  if (sign.startsWith('>')) return value > bound || (sign === '>=' && value === bound);
  return value < bound || (sign === '<=' && value === bound);
}
