/** Questions about usage. */
import type { UsageDimension } from '../../contract/ledger.ts';
import type { Within } from '../../contract/people.ts';

export interface UsageQuery {
  by: UsageDimension;
  /** Only these names; not by day. */
  names?: string[];
  /** Both are rounded outward to a quarter of an hour. */
  sinceMs?: number;
  untilMs?: number;
  /** Local time minus UTC; decides where days begin. */
  utcOffsetMinutes?: number;
  /** Only this part of the ledger, of exactly this time; computed from individual requests. Absent: all of it. */
  within?: Within;
}

export interface OverTimeQuery {
  sinceMs: number;
  /** Exclusive. */
  untilMs: number;
  /** Multiples of 15 minutes are computed from stored totals, other steps from individual requests, which is slower. */
  stepMs: number;
  /** Local time minus UTC; decides where days begin. */
  utcOffsetMinutes?: number;
}

export interface NamedUsageQuery {
  /** `day`: the total only. */
  by: UsageDimension;
  /** Only these names; the empty name stands for requests without one. */
  names?: string[];
}

export interface UsageOverTimeQuery extends OverTimeQuery, NamedUsageQuery {
  /**
   * Only this part of the ledger; computed from individual requests, because there are no stored totals for it. Absent:
   * all of it.
   */
  within?: Within;
}

export type FirstByteQuery = OverTimeQuery & Partial<NamedUsageQuery>;
