/**
 * Conditions on records of the ledger, as values: the engine and the window ask them of a record, and the stores turn them into
 * SQL (`store/rules/condition-sql.ts`), so that each rule of what counts is written once.
 */
import type { AttemptRecord, RequestOutcome, RequestRecord } from './ledger.ts';

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

/** The condition as a function of a record. Make it once for each condition: it is asked of every request several times. */
export function predicateOf<T extends object>(condition: Condition<T>): (record: T) => boolean {
  if ('isNull' in condition) return (record) => (record[condition.isNull] ?? null) === null;
  if ('isOneOf' in condition) return isOneOf(condition);
  if ('least' in condition) {
    const { member, least, most } = condition;
    return (record) => {
      const value = record[member];
      return typeof value === 'number' && value >= least && value <= most;
    };
  }
  if ('all' in condition) {
    const every = condition.all.map(predicateOf);
    return (record) => every.every((holds) => holds(record));
  }
  if ('any' in condition) {
    const some = condition.any.map(predicateOf);
    return (record) => some.some((holds) => holds(record));
  }
  if ('not' in condition) {
    const holds = predicateOf(condition.not);
    return (record) => !holds(record);
  }
  if ('hasSeveralAttempts' in condition) return (record) => attemptsOf(record).length > 1;
  const holds = predicateOf(condition.someAttempt);
  return (record) => attemptsOf(record).some(holds);
}

function isOneOf<T>({ member, at, isOneOf }: Extract<Condition<T>, { isOneOf: unknown }>): (record: T) => boolean {
  return (record) => {
    const value: unknown = at === undefined ? record[member] : memberOf(record[member], at);
    return typeof value === 'string' && isOneOf.includes(value);
  };
}

const attemptsOf = ({ attempts = [] }: WithAttempts) => attempts;

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}

/** Null while the request runs. */
type Judged = Pick<RequestRecord, 'fault' | 'provider' | 'status'> & { outcome: RequestOutcome | null };

/** What counts as an error: in usage, sessions, the request log, metrics, the command line and the window. */
export const errorOutcomes: readonly RequestOutcome[] = ['error', 'stream-broken', 'interrupted'];

/** A client's disconnect is no error, nor is a fault that was switched on. */
export const errors: Condition<Judged> = {
  all: [{ member: 'outcome', isOneOf: errorOutcomes }, { isNull: 'fault' }],
};

/** Errors that are the caller's mistake: Sluice refused the request with a 4xx, and no provider was asked. */
export const refused: Condition<Judged> = {
  all: [
    { member: 'outcome', isOneOf: ['error'] },
    { isNull: 'fault' },
    { isNull: 'provider' },
    { member: 'status', least: 400, most: 499 },
  ],
};

export const isError = predicateOf(errors);
export const isRefused = predicateOf(refused);
