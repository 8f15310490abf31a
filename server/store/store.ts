/**
 * The port to durable storage, for everything that outlives a request. It is implemented by SQLite on the machine's own
 * disk, and by PostgreSQL for replicas. The configuration has its own port (`config/config-store.ts`).
 */
import type { Settings } from '../contract/settings.ts';
import type { MaybePromise } from '../ground/promises.ts';
import type { JobStore, ReasoningStore, ResponseStore } from './ports/kept-stores.ts';
import type { Ledger } from './sqlite/ledger.ts';

export interface StoreOptions {
  /** null to keep everything in memory, for tests. */
  dataDir: string | null;
  log: { warn(fields: object, message: string): void; error(fields: object, message: string): void };
  /** Called on each use, so that changed settings take effect immediately. */
  settings(): Settings;
}

/** Where the document lies: a file, or a row that all replicas read. */
export interface RenewalStore {
  /** Null if there is none. */
  read(): Promise<string | null>;
  /**
   * Calls `work` with the document, and stores what it returns unless that is null. Resolves with false, without calling it,
   * while another replica is at it.
   */
  exclusive(work: (document: string | null) => Promise<string | null>): Promise<boolean>;
  /** The document may have been changed by another replica. */
  onChange(listener: () => void): void;
}

export interface Store {
  /** Other replicas use the store at the same time. */
  readonly isShared: boolean;
  readonly ledger: Ledger;
  readonly jobs: JobStore;
  readonly keptResponses: ResponseStore;
  readonly reasoning: ReasoningStore;
  /** What was read of public prices. */
  readonly renewals: RenewalStore;
  /** Writes what is waiting and closes everything. */
  close(): MaybePromise<void>;
}
