/** Opens the store in the data folder: three SQLite files, owned by one process. */
import { join } from 'node:path';
import { type Database, openDatabase, type Replaced } from '../database/database.ts';
import { budgetMigrations } from '../database/schema.ts';
import { createSweepClock } from '../database/sweep-clock.ts';
import { createJobStore } from '../jobs/sqlite-job-store.ts';
import { keptResponseMigrations } from '../kept-responses/kept-response-rows.ts';
import { SqliteResponseStore } from '../kept-responses/sqlite-response-store.ts';
import { createLedger } from '../ledger/ledger.ts';
import { setAsideName } from '../ledger/set-aside-rows.ts';
import { createReasoningStore } from '../reasoning/sqlite-reasoning-store.ts';
import type { Store, StoreOptions } from './store.ts';

/** Does not throw if a file cannot be opened. Operations on that file fail until it can be. */
export function openLocalStore({ dataDir, log, settings }: StoreOptions): Store {
  const fileOf = (name: string) => (dataDir === null ? ':memory:' : join(dataDir, name));
  const database = openDatabase(fileOf('ledger.sqlite'));
  const budgetDatabase = openDatabase(fileOf('budgets.sqlite'), budgetMigrations);
  const responseDatabase = openDatabase(fileOf('responses.sqlite'), keptResponseMigrations);
  for (const each of [database, budgetDatabase, responseDatabase]) logReplacement(each, log);
  const sweepClock = createSweepClock(database);
  const ledger = createLedger({
    database,
    budgetDatabase,
    setAsideFile: dataDir === null ? null : join(dataDir, setAsideName),
    log,
    sweepClock,
    settings: () => {
      const { ledger, capture } = settings();
      return { ...ledger, captureRetentionDays: capture.retentionDays };
    },
  });
  const jobs = createJobStore({ database, log, sweepClock, retentionDays: () => settings().jobs.retentionDays });
  const keptResponses = new SqliteResponseStore({
    database: responseDatabase,
    log,
    sweepClock,
    settings: () => settings().keptResponses,
  });
  const reasoning = createReasoningStore({ database, log });
  return {
    isShared: false,
    ledger,
    jobs,
    keptResponses,
    reasoning,
    close() {
      jobs.close();
      keptResponses.close();
      reasoning.close();
      ledger.close();
      budgetDatabase.close();
      responseDatabase.close();
      database.close();
    },
  };
}

function logReplacement(database: Database, log: StoreOptions['log']): void {
  const tell = (replaced: Replaced) => log.error(replaced, 'a database was unusable or missing; a new one was created');
  if (database.notice) tell(database.notice);
  database.onReplaced(tell);
}
