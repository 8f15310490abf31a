/** Opens the store in the data folder: three SQLite files, owned by one process. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileDurably } from '../ground/files/durable-file.ts';
import { systemErrorCode } from '../ground/files/regular-file.ts';
import { createSerialQueue } from '../ground/promises.ts';
import { type Database, openSqliteDatabase, type Replaced } from './sqlite/database.ts';
import { createJobStore } from './sqlite/job-store.ts';
import { createLedger } from './sqlite/ledger.ts';
import { createReasoningStore } from './sqlite/reasoning-store.ts';
import { keptResponseMigrations, SqliteResponseStore } from './sqlite/response-store.ts';
import { createSweepClock } from './sqlite/retention.ts';
import { budgetMigrations } from './sqlite/schema.ts';
import { setAsideName } from './sqlite/set-aside-rows.ts';
import type { RenewalStore, Store, StoreOptions } from './store.ts';

/** Does not throw if a file cannot be opened. Operations on that file fail until it can be. */
export function openLocalStore({ dataDir, log, settings }: StoreOptions): Store {
  const fileOf = (name: string) => (dataDir === null ? ':memory:' : join(dataDir, name));
  const database = openSqliteDatabase(fileOf('ledger.sqlite'));
  const budgetDatabase = openSqliteDatabase(fileOf('budgets.sqlite'), budgetMigrations);
  const responseDatabase = openSqliteDatabase(fileOf('responses.sqlite'), keptResponseMigrations);
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
      return { ...ledger, captureRetentionDays: capture.retentionDays, captureBytes: capture.totalBytes };
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
    renewals: createRenewalFile(fileOf('renewed-prices.json')),
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

/** In memory for tests. */
function createRenewalFile(path: string): RenewalStore {
  const inTurn = createSerialQueue();
  let inMemory: string | null = null;
  const read = async () => {
    if (path === ':memory:') return inMemory;
    try {
      return await readFile(path, 'utf8');
    } catch (error) {
      if (systemErrorCode(error) === 'ENOENT') return null;
      throw error;
    }
  };
  return {
    read,
    exclusive: (work) =>
      inTurn(async () => {
        const text = await work(await read());
        if (text !== null && path === ':memory:') inMemory = text;
        else if (text !== null) await writeFileDurably(path, text);
        return true;
      }),
    onChange: () => {},
  };
}

function logReplacement(database: Database, log: StoreOptions['log']): void {
  const tell = (replaced: Replaced) => log.error(replaced, 'a database was unusable or missing; a new one was created');
  if (database.notice) tell(database.notice);
  database.onReplaced(tell);
}
