import { afterEach, beforeEach } from 'vitest';
import { configSchema } from '../../../../server/contract/config.ts';
import type { Settings } from '../../../../server/contract/settings.ts';
import type { Store } from '../../../../server/store/store.ts';

/** An implementation of the store, to be held to its contract. */
export interface StoreSubject {
  /** Opens it on the data of the present test. */
  open(settings: () => Settings): Promise<Store>;
  /** Lets the requests that the runs before have left behind be found as interrupted; absent: opening it does that. */
  findInterrupted?(): Promise<void>;
}

export interface UsedStore {
  /** What is open now. */
  readonly store: Store;
  /** Takes effect at once. */
  readonly settings: Settings;
  /** What a restart leaves: what is stored, and nothing of what was in memory. */
  restart(): Promise<void>;
  /** A second one on the same data. */
  openAnother(): Promise<Store>;
}

/** Opens the store before each test of the present suite, and closes it. */
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
