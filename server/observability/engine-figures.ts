import type { ProviderHealthView } from '../contract/provider-views.ts';

/** The state of the engine at the moment of a scrape. */
export interface EngineFigures {
  /** Requests that are running, and requests that wait for admission. */
  running: number;
  waiting: number;
  /** Rows of the ledger that wait to be written, and rows that were lost since the start. */
  ledgerPending: number;
  ledgerDropped: number;
  /** Requests without a valid key since the start. */
  unauthenticated: number;
  /** Null if limits are not counted together with other replicas. */
  sharedCounts: { isUp: boolean; replicas: number } | null;
  providers: readonly { id: string; state: ProviderHealthView['state'] }[];
}
