/**
 * What a request counts for: the only place that says so. Sums, sessions, budgets, metrics, telemetry and the list of models
 * without a price fold what `countOf` returns; queries on stored rows use the same conditions as SQL (`store/rules/condition-sql.ts`).
 */
import { lostPurchaseCode } from './errors.ts';
import type { AttemptRecord, FailureClass, RequestOutcome, RequestRecord, Usage } from './ledger.ts';

// Conditions on records of the ledger, as values: the engine and the window ask them of a record, and the stores turn them into
// SQL (`store/rules/condition-sql.ts`), so that each rule of what counts is written once.

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
function predicateOf<T extends object>(condition: Condition<T>): (record: T) => boolean {
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

/** What of a request decides its verdict. The outcome is null while it runs. */
export type Judged = Pick<RequestRecord, 'fault' | 'provider' | 'status'> & { outcome: RequestOutcome | null };

/**
 * What became of a request, for whoever shows, filters or counts it: one of these, and the same one everywhere. `refused`:
 * Sluice answered with a 4xx before it asked a provider, so it is the caller's mistake. `fault`: an error that was switched on.
 */
export type Verdict = RequestOutcome | 'refused' | 'fault' | 'running';

/** The outcomes of a request that went wrong, through whosever fault. A client's disconnect is none of them. */
export const errorOutcomes = ['error', 'stream-broken', 'interrupted'] as const satisfies readonly RequestOutcome[];

const onPurpose: Condition<Judged> = {
  all: [{ member: 'outcome', isOneOf: errorOutcomes }, { not: { isNull: 'fault' } }],
};

export const refused: Condition<Judged> = {
  all: [
    { member: 'outcome', isOneOf: ['error'] },
    { isNull: 'fault' },
    { isNull: 'provider' },
    { member: 'status', least: 400, most: 499 },
  ],
};

/** What counts as a failure: neither what Sluice refused nor what was switched on. */
export const failed: Condition<Judged> = {
  all: [{ member: 'outcome', isOneOf: errorOutcomes }, { isNull: 'fault' }, { not: refused }],
};

/** Whether a verdict is one of those that count as failures. */
export const countsAsFailed = (verdict: Verdict): boolean => errorOutcomes.some((each) => each === verdict);

/** The condition that a request has this verdict. */
export function judgedAs(verdict: Verdict): Condition<Judged> {
  if (verdict === 'fault') return onPurpose;
  if (verdict === 'refused') return refused;
  if (verdict === 'running') return { isNull: 'outcome' };
  const outcome = { member: 'outcome', isOneOf: [verdict] } as const;
  return countsAsFailed(verdict) ? { all: [outcome, failed] } : outcome;
}

const isOnPurpose = predicateOf(onPurpose);
export const isRefused = predicateOf(refused);
export const isFailed = predicateOf(failed);

export function verdictOf(request: Judged): Verdict {
  if (isOnPurpose(request)) return 'fault';
  return isRefused(request) ? 'refused' : (request.outcome ?? 'running');
}

/** What a verdict means to who looks at it, and so its colour. */
export const meaningOf: Readonly<Record<Verdict, 'good' | 'bad' | 'warning' | 'neutral'>> = {
  ok: 'good',
  error: 'bad',
  'stream-broken': 'bad',
  interrupted: 'bad',
  refused: 'warning',
  'client-gone': 'neutral',
  fault: 'neutral',
  running: 'neutral',
};

/** The fields that counting needs; an interrupted row has no others. */
export type Countable = Pick<
  RequestRecord,
  | 'keyId'
  | 'groupId'
  | 'modelAsked'
  | 'modelServed'
  | 'provider'
  | 'method'
  | 'capability'
  | 'outcome'
  | 'errorCode'
  | 'status'
  | 'usage'
  | 'costUsd'
  | 'attempts'
  | 'fault'
  | 'shadowOf'
>;

/**
 * Dollars of budgets are added and compared in whole billionths, so that a budget of $0.50 lets exactly 50 requests of $0.01
 * pass. The script in Valkey does the same (`team/valkey/scripts.ts`).
 */
export const inNanodollars = (usd: number): number => Math.round(usd * 1e9) / 1e9;

/** Failures after which the upstream may have billed something. */
const mayHaveCost: readonly FailureClass[] = ['stream-broken', 'client-gone', 'lost'];

/** An attempt that may have cost something that is not known; without an answer it costs nothing. */
export const unpricedAttempts: Condition<AttemptRecord> = {
  all: [
    { isNull: 'costUsd' },
    { any: [{ not: { isNull: 'usage' } }, { isNull: 'failure' }, { member: 'failure', isOneOf: mayHaveCost }] },
  ],
};

type Priced = Pick<Countable, 'provider' | 'capability' | 'method' | 'usage' | 'errorCode' | 'costUsd' | 'attempts'> & {
  outcome: RequestOutcome | null;
};

/** A request of which no cost is known, and that may have had one. */
const ofUnknownCost: Condition<Priced> = {
  all: [
    { isNull: 'costUsd' },
    { not: { isNull: 'provider' } },
    { not: { isNull: 'capability' } },
    // Requests about a job cost nothing, except the one that reports its usage.
    { any: [{ member: 'method', isOneOf: ['POST'] }, { not: { isNull: 'usage' } }] },
    {
      any: [
        { not: { member: 'outcome', isOneOf: ['error'] } },
        { not: { isNull: 'usage' } },
        { member: 'errorCode', isOneOf: [lostPurchaseCode] },
      ],
    },
  ],
};

/** A request that may have cost something that is not known, with its attempts. */
export const unpriced: Condition<Priced> = {
  any: [
    ofUnknownCost,
    { all: [{ not: { isNull: 'costUsd' } }, { hasSeveralAttempts: true }, { someAttempt: unpricedAttempts }] },
  ],
};

/** A request that counts against a limit of requests per minute: it reached a provider, or was answered from the cache. */
export const usesRate: Condition<Pick<RequestRecord, 'cached' | 'attempts'>> = {
  any: [
    { member: 'cached', at: 'result', isOneOf: ['hit', 'shared'] },
    { someAttempt: { any: [{ not: { isNull: 'connectMs' } }, { not: { isNull: 'status' } }] } },
  ],
};

export const isCountedForRate = predicateOf(usesRate);
export const isUnpriced = predicateOf(unpriced);
export const isUnpricedAttempt = predicateOf(unpricedAttempts);

/** One target's part of a request. */
export interface Counting {
  /** What the upstream was asked for, else what the client asked for. */
  model: string | null;
  provider: string | null;
  /** 1 for the part that answered, so that a request counts once. */
  requests: 0 | 1;
  isFailed: boolean;
  isRefused: boolean;
  usage: Usage | null;
  costUsd: number | null;
  isUnpriced: boolean;
}

/** A request, and the same in parts. */
interface Count {
  /** At the target that answered. */
  whole: Counting;
  /**
   * The request counts for the target that answered, and the usage and cost of each of several attempts for the one that was
   * asked. A bill of a job is in the row alone.
   */
  parts: readonly Counting[];
}

export function countOf(row: Countable): Count {
  const whole = wholeOf(row);
  if (row.attempts.length < 2) return { whole, parts: [whole] };
  const request = { ...whole, usage: null, costUsd: null, isUnpriced: false };
  return { whole, parts: [request, ...row.attempts.map((attempt) => countOfAttempt(row, attempt))] };
}

function wholeOf(row: Countable): Counting {
  return {
    model: row.modelServed ?? row.modelAsked,
    provider: row.provider,
    requests: 1,
    isFailed: isFailed(row),
    isRefused: isRefused(row),
    usage: row.usage,
    costUsd: row.costUsd,
    isUnpriced: isUnpriced(row),
  };
}

function countOfAttempt(row: Countable, attempt: AttemptRecord): Counting {
  const { model, provider, usage, costUsd } = attempt;
  return {
    ...{ model: model ?? row.modelAsked, provider },
    ...{ requests: 0, isFailed: false, isRefused: false },
    ...{ usage, costUsd, isUnpriced: isUnpricedAttempt(attempt) },
  };
}
