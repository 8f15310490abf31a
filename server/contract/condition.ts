/**
 * Conditions on records of the ledger, as values: the engine and the window ask them of a record, and the stores turn them into
 * SQL (`store/rules/condition-sql.ts`), so that each rule of what counts is written once.
 */
import type { AttemptRecord } from './ledger.ts';

/** The members whose value a condition may compare. */
export type Condition<T> =
  | { isNull: keyof T & string }
  /** A text among these; `at`: of an object, its member. */
  | { member: keyof T & string; at?: string; isOneOf: readonly string[] }
  /** A number from `least` to `most`. */
  | { member: keyof T & string; least: number; most: number }
  | { all: readonly Condition<T>[] }
  | { any: readonly Condition<T>[] }
  | { not: Condition<T> }
  /** Of a record with attempts. */
  | { someAttempt: Condition<AttemptRecord> }
  | { hasSeveralAttempts: true };

interface WithAttempts {
  attempts?: readonly AttemptRecord[];
}

export function holds<T extends object>(condition: Condition<T>, record: T): boolean {
  if ('isNull' in condition) return (record[condition.isNull] ?? null) === null;
  if ('isOneOf' in condition) {
    const given: unknown = record[condition.member];
    const value = condition.at === undefined ? given : memberOf(given, condition.at);
    return typeof value === 'string' && condition.isOneOf.includes(value);
  }
  if ('least' in condition) {
    const value = record[condition.member];
    return typeof value === 'number' && value >= condition.least && value <= condition.most;
  }
  if ('all' in condition) return condition.all.every((each) => holds(each, record));
  if ('any' in condition) return condition.any.some((each) => holds(each, record));
  if ('not' in condition) return !holds(condition.not, record);
  const { attempts = [] } = record as WithAttempts;
  if ('someAttempt' in condition) return attempts.some((attempt) => holds(condition.someAttempt, attempt));
  return attempts.length > 1;
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}
