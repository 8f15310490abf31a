import { afterEach, beforeEach } from 'vitest';
import { configSchema } from '../../../../server/contract/config.ts';
import type { Settings } from '../../../../server/contract/settings.ts';
import type { Store } from '../../../../server/store/store.ts';

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
