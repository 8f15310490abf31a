import { afterEach, beforeEach } from 'vitest';
import { configSchema } from '../../../../server/contract/config.ts';
import type { RequestRecord, RequestStarted } from '../../../../server/contract/ledger.ts';
import type { Settings } from '../../../../server/contract/settings.ts';
import type { Ledger } from '../../../../server/store/sqlite/ledger.ts';
import type { RequestFilter } from '../../../../server/store/sqlite/queries.ts';
import type { Store } from '../../../../server/store/store.ts';
import { finishedRow, rescuedRow, startedRow } from '../sqlite/records.ts';

// A ledger for recording and queries, and requests for it. They are recent, because a store deletes old ones.

export const minute = 60_000;
export const quarter = 15 * minute;
export const hour = 60 * minute;
export const day = 24 * hour;
/** Yesterday's noon, in UTC. */
export const noon = Math.floor(Date.now() / day) * day - day / 2;
/** The name of the day in sums by day. */
export const dayName = (timeMs: number) => new Date(timeMs).toISOString().slice(0, 10);

export const began = (id: string, more: Partial<RequestStarted> = {}) => startedRow(id, { startedAt: noon, ...more });
export const ended = (id: string, more: Partial<RequestRecord> = {}) => finishedRow(id, { startedAt: noon, ...more });
export const rescued = (id: string, more: Partial<RequestRecord> = {}) => rescuedRow(id, { startedAt: noon, ...more });

export interface UsedLedger {
  readonly ledger: Ledger;
  /** Changes take effect at once. */
  readonly settings: Settings;
  /** Reopens the ledger, with only what was written. */
  restart(): Promise<void>;
  /** Records requests that have ended, in this order. */
  add(...requests: RequestRecord[]): void;
  /** The ids of the requests that match a filter. */
  ids(filter: RequestFilter): Promise<string[]>;
}

/** Opens a ledger before each test of the current suite, and closes it afterwards. */
export function useLedger(subject: StoreSubject): UsedLedger {
  const used = useStore(subject);
  return {
    get ledger() {
      return used.store.ledger;
    },
    get settings() {
      return used.settings;
    },
    restart: () => used.restart(),
    add(...requests) {
      for (const request of requests) used.store.ledger.finished(request);
    },
    ids: async (filter) => (await used.store.ledger.listRequests(filter)).requests.map(({ id }) => id),
  };
}

/** An implementation of the store to be tested against the contract. */
export interface StoreSubject {
  /** Opens the store on the data of the current test. */
  open(settings: () => Settings): Promise<Store>;
  /** Marks requests left behind by earlier runs as interrupted. If absent, opening the store does that. */
  findInterrupted?(): Promise<void>;
}

export interface UsedStore {
  /** The store that is currently open. */
  readonly store: Store;
  /** Changes take effect at once. */
  readonly settings: Settings;
  /** Reopens the store, with what is stored and nothing that was in memory. */
  restart(): Promise<void>;
  /** Opens a second store on the same data. */
  openAnother(): Promise<Store>;
}

/** Opens the store before each test of the current suite, and closes it afterwards. */
export function useStore(subject: StoreSubject): UsedStore {
  let settings: Settings;
  let opened: Store[];
  const open = async () => {
    const store = await subject.open(() => settings);
    opened.push(store);
    return store;
  };
  beforeEach(async () => {
    settings = structuredClone(configSchema.parse({ version: 1 }).settings);
    opened = [];
    await open();
  });
  afterEach(async () => {
    for (const store of opened.splice(0)) await store.close();
  });
  return {
    get store() {
      const [store] = opened;
      if (!store) throw new Error('No store is open.');
      return store;
    },
    get settings() {
      return settings;
    },
    async restart() {
      for (const store of opened.splice(0)) await store.close();
      await open();
    },
    openAnother: open,
  };
}
