/** Questions about usage. */
import type { UsageDimension } from '../../contract/ledger.ts';
import type { Within } from '../../contract/people.ts';

export interface UsageQuery {
  by: UsageDimension;
  /** Only these names; not by day. */
  names?: string[];
  /** Both are rounded outward to quarters of an hour. */
  sinceMs?: number;
  untilMs?: number;
  /** An IANA name; decides where days begin. Absent: UTC. */
  zone?: string;
  /** Only this part of the ledger; computed from individual requests. Absent: all of it. */
  within?: Within;
}

export interface OverTimeQuery {
  sinceMs: number;
  /** Exclusive. */
  untilMs: number;
  /**
   * With multiples of 15 minutes the range is rounded outward to quarters of an hour, and the answer computed from stored totals.
   * Others are computed from individual requests, which is slower. `Infinity`: one step for all.
   */
  stepMs: number;
  /** An IANA name; decides where days begin. Absent: UTC. */
  zone?: string;
}

interface NamedUsageQuery {
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
