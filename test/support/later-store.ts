/** The SQLite store, but asynchronous in all places where a database server would be. */
import { setImmediate } from 'node:timers/promises';
import { openLocalStore } from '../../server/store/local-store.ts';
import type { KnownJobs } from '../../server/store/ports/job-store.ts';
import type { Store, StoreOptions } from '../../server/store/store.ts';

async function later<T>(value: T | Promise<T>): Promise<T> {
  await setImmediate();
  return value;
}

export async function openLaterStore(options: StoreOptions): Promise<Store> {
  const store = openLocalStore(options);
  const { ledger, jobs, keptResponses, reasoning, renewals } = store;
  const near = new Set<string>();
  return later({
    isShared: true,
    ledger: withMethods(ledger, {
      sessionStates: withMethods(ledger.sessionStates, {
        setStopped: async (id, stoppedAt) => later(ledger.sessionStates.setStopped(id, stoppedAt)),
        budgetUsedUsd: async (id) => later(ledger.sessionStates.budgetUsedUsd(id)),
      }),
      history: {
        spent: async (...question) => later(ledger.history.spent(...question)),
        requestsSince: async (...question) => later(ledger.history.requestsSince(...question)),
        forgetTotal: async (...question) => later(ledger.history.forgetTotal(...question)),
      },
    }),
    jobs: withMethods(jobs, {
      lookUp: async (ids, groupId) => onlyAbout(ids, await later(jobs.lookUp(ids, groupId))),
      owing: async () => later(jobs.owing()),
    }),
    keptResponses: withMethods(keptResponses, {
      find: async (id, groupId) => later(keptResponses.find(id, groupId)),
    }),
    reasoning: withMethods(reasoning, {
      async prefetch(keyId, callIds) {
        await setImmediate();
        for (const id of callIds) near.add(`${keyId} ${id}`);
      },
      find: (keyId, callIds) =>
        reasoning.find(
          keyId,
          callIds.filter((id) => near.has(`${keyId} ${id}`)),
        ),
    }),
    renewals,
    close: async () => later(store.close()),
  });
}

/** Only jobs that were looked up are known. */
function onlyAbout(ids: readonly string[], known: KnownJobs): KnownJobs {
  const check = (id: string) => {
    if (!ids.includes(id)) throw new Error(`${id} was not looked up`);
  };
  return {
    find(kind, id, groupId) {
      check(id);
      return known.find(kind, id, groupId);
    },
    findAny(id, groupId) {
      check(id);
      return known.findAny(id, groupId);
    },
  };
}

/** `target` with some methods replaced. All other members are its own, including private fields. */
export function withMethods<T extends object>(target: T, methods: Partial<T>): T {
  return new Proxy(target, {
    get(object, name) {
      const own: unknown = Reflect.get(methods, name);
      if (own !== undefined) return own;
      const value: unknown = Reflect.get(object, name);
      return typeof value === 'function' ? value.bind(object) : value;
    },
  });
}
