/** What counts as an error: in usage, sessions, the request log, metrics, the command line and the window. */
import { type Condition, predicateOf } from './condition.ts';
import type { RequestOutcome, RequestRecord } from './ledger.ts';

/** Null while the request runs. */
type Judged = Pick<RequestRecord, 'fault' | 'provider' | 'status'> & { outcome: RequestOutcome | null };

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
