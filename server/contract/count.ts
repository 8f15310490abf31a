/**
 * What a request counts for: the only place that says so. Sums, sessions, budgets, metrics, telemetry and the list of models
 * without a price fold what `countOf` returns; queries on stored rows use the same conditions as SQL (`store/rules/condition-sql.ts`).
 */
import { type Condition, isError, isRefused, predicateOf } from './condition.ts';
import { lostPurchaseCode } from './errors.ts';
import type { AttemptRecord, FailureClass, RequestOutcome, RequestRecord, Usage } from './ledger.ts';

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
 * pass. The script in Valkey does the same (`script-parts.ts`).
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
  isError: boolean;
  isRefused: boolean;
  usage: Usage | null;
  costUsd: number | null;
  isUnpriced: boolean;
}

/** A request, and the same in parts. */
export interface Count {
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
    isError: isError(row),
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
    ...{ requests: 0, isError: false, isRefused: false },
    ...{ usage, costUsd, isUnpriced: isUnpricedAttempt(attempt) },
  };
}
