/** `sluice migrate`: copies a data folder into a database. The folder itself is not changed. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type ConfigStore, openConfigStore } from '../../config/config-store.ts';
import { createConfPersistence } from '../../config/persistence.ts';
import { GatewayError } from '../../contract/errors.ts';
import { encryptedFileName } from '../../secrets/encrypted-file.ts';
import { openSecretStore } from '../../secrets/open-secret-store.ts';
import type { SecretStore } from '../../secrets/secret-store.ts';
import { openLocalStore } from '../local-store.ts';
import type { Row } from '../rules/columns.ts';
import { type EndedRow, toLedgerRow } from '../rules/rows.ts';
import { storableRow } from '../rules/storable-row.ts';
import { readCapture } from '../sqlite/capture-rows.ts';
import { type Database, openSqliteDatabase as openSqlite } from '../sqlite/database.ts';
import { keptResponseMigrations } from '../sqlite/response-store.ts';
import type { StoreOptions } from '../store.ts';
import { captureDay, captureTables, writeCaptures } from './captures.ts';
import { type Compared, compareSums, copyTables, RequestTally } from './import-tables.ts';
import { NamesWriter, type PlacedRow, requestColumns, writeRequestsSql } from './ledger-writer.ts';
import { openSharedStore, type SharedStore } from './open-shared.ts';
import { Partitions, partitionDay } from './partitions.ts';
import { columnsOf, type Postgres } from './postgres.ts';
import type { OutsideKey } from './secret-store.ts';

interface Options {
  /** Already locked by the caller. */
  dataDir: string;
  /** `postgres://user:password@host:port/database`, or a reference to it; secret. */
  address: string;
  env: Readonly<Record<string, string | undefined>>;
  key: OutsideKey;
  /** Where the secrets of the data folder are. */
  secrets: 'auto' | 'keychain' | 'file';
  sessionBus?: string | undefined;
  log: StoreOptions['log'];
  /** Called with the number of requests copied so far. */
  progress(requests: number): void;
}

interface Imported {
  compared: Compared[];
  /** The number of secrets. */
  secrets: number;
  /** What was left out, one line each. */
  notices: string[];
}

/** Rejects with a GatewayError if the database holds a different configuration; nothing is copied then. */
export async function importFolder(options: Options): Promise<Imported> {
  const { dataDir, address, env, key, log, progress } = options;
  const config = await openConfigStore({ persistence: createConfPersistence(join(dataDir, 'config.json')) });
  const sharedStore = await openSharedStore({ address, env, key, log });
  try {
    checkConfig(config, sharedStore.config);
    const copiedSecrets = await copySecrets(options, sharedStore);
    if (sharedStore.config.isFirstRun && !config.isFirstRun) await sharedStore.config.commit(config.current.config);
    // Migrates the files, and marks the requests that an earlier process left unfinished.
    await openLocalStore({ dataDir, log, settings: () => config.current.config.settings }).close();
    const ledger = openSqlite(join(dataDir, 'ledger.sqlite'));
    const responses = openSqlite(join(dataDir, 'responses.sqlite'), keptResponseMigrations);
    try {
      return {
        ...copiedSecrets,
        notices: [...config.removed, ...copiedSecrets.notices],
        compared: await importFiles({ ledger, responses }, { postgres: sharedStore.postgres, progress }),
      };
    } finally {
      ledger.close();
      responses.close();
    }
  } finally {
    await sharedStore.close();
  }
}

/** An equal configuration exists if an import is repeated. */
function checkConfig(local: ConfigStore, shared: ConfigStore): void {
  if (local.isFirstRun || shared.isFirstRun || isDeepStrictEqual(local.current.config, shared.current.config)) return;
  throw new GatewayError(
    'conflict',
    'The database holds another configuration already. Nothing was copied. Name a new database.',
  );
}

async function copySecrets({ dataDir, key, secrets: prefer, sessionBus }: Options, sharedStore: SharedStore) {
  const isByPassphrase = await needsPassphrase(dataDir);
  const passphrase = isByPassphrase ? key.passphrase : undefined;
  const { store } = await openSecretStore({ dataDir, passphrase, sessionBus, prefer });
  const to = await sharedStore.openSecrets();
  const names = await store.list();
  if (key.passphrase === undefined && key.keyFile === undefined) {
    const notice = `${names.length} secrets were left out: set SLUICE_PASSPHRASE or SLUICE_KEY_FILE to encrypt them, and repeat.`;
    return { secrets: 0, notices: names.length === 0 ? [] : [notice] };
  }
  return { secrets: await copyAll(names, store, to), notices: [] };
}

async function copyAll(names: readonly string[], from: SecretStore, to: SecretStore): Promise<number> {
  for (const name of names) {
    const value = await from.get(name);
    if (value !== undefined) await to.set(name, value);
  }
  return names.length;
}

/** If a key file lies beside the secrets, opening them with a passphrase would change them. */
async function needsPassphrase(dataDir: string): Promise<boolean> {
  const content = await readFile(join(dataDir, encryptedFileName), 'utf8').catch(() => '');
  return content.includes('"from":"passphrase"');
}

interface Files {
  /** `ledger.sqlite` */
  ledger: Database;
  /** `responses.sqlite` */
  responses: Database;
}

interface SqliteOptions {
  postgres: Postgres;
  /** Called with the number of requests copied so far. */
  progress(requests: number): void;
  now?: () => number;
}

const rowsPerPiece = 1_000;
const capturesPerPiece = 20;
/** Requests from a laptop may be as old as its retention allows. */
const mostDaysBack = 3_650;
const noReplica = 'import';

/**
 * Copies the durable records from the SQLite files of a data folder. Existing rows stay or are replaced by equal ones,
 * so an interrupted import can be repeated. Live data in the database is not touched.
 *
 * Resolves with the sums of both sides. Rejects with PostgreSQL's or SQLite's error.
 */
async function importFiles({ ledger, responses }: Files, options: SqliteOptions): Promise<Compared[]> {
  const { postgres, progress, now = Date.now } = options;
  const nowMs = now();
  const tally = await copyRequests(ledger, { postgres, progress, nowMs });
  await copyCaptures(ledger, postgres, nowMs);
  await copyTables(postgres, { ledger, responses });
  return compareSums(postgres, { ledger, responses }, tally);
}

async function copyRequests(
  ledger: Database,
  { postgres, progress, nowMs }: { postgres: Postgres; progress(requests: number): void; nowMs: number },
): Promise<RequestTally> {
  const partitions = new Partitions(postgres, 'requests');
  const names = new NamesWriter();
  const tally = new RequestTally();
  const next = ledger.prepare(`SELECT * FROM requests WHERE seq > ? ORDER BY seq LIMIT ${rowsPerPiece}`);
  let copied = 0;
  for (let rows = next.all(-1); rows.length > 0; rows = next.all(Number(rows.at(-1)?.seq))) {
    const placements = rows.flatMap((row) => placeRow(row, nowMs));
    await partitions.ensure(placements.map(({ day }) => day));
    await postgres.transaction(async (queries) => {
      await queries.ask(writeRequestsSql, ...requestColumns(placements, noReplica));
      await names.add(queries, placements);
    });
    await tally.add(postgres, placements);
    copied += rows.length;
    progress(copied);
  }
  return tally;
}

/** Empty for a running request. There are none once the process has ended. */
function placeRow(row: Row, nowMs: number): PlacedRow[] {
  const { outcome, totalMs, ...request } = toLedgerRow(row);
  if (outcome === null) return [];
  const endedRow = storableRow<EndedRow>({ ...request, outcome, totalMs: totalMs ?? 0 });
  return [{ row: endedRow, day: partitionDay(endedRow.startedAt, nowMs, mostDaysBack) }];
}

async function copyCaptures(ledger: Database, postgres: Postgres, nowMs: number): Promise<void> {
  const partitions = captureTables.map((table) => new Partitions(postgres, table));
  const next = ledger.prepare(
    `SELECT seq, id, captured_at FROM captures WHERE seq > ? ORDER BY seq LIMIT ${capturesPerPiece}`,
  );
  for (let rows = next.all(-1); rows.length > 0; rows = next.all(Number(rows.at(-1)?.seq))) {
    const stored = await postgres.ask(
      'SELECT id FROM captures WHERE id = ANY($1)',
      ...columnsOf(rows.map(({ id }) => [String(id)])),
    );
    const isKnown = new Set(stored.rows.map(({ id }) => id));
    const captures = rows.flatMap(({ id, captured_at }) => {
      const exchange = isKnown.has(String(id)) ? null : readCapture(ledger, String(id));
      return exchange === null ? [] : [{ id: String(id), capturedAt: Number(captured_at), exchange }];
    });
    for (const each of partitions) await each.ensure(captures.map((capture) => captureDay(capture, nowMs)));
    await postgres.transaction((queries) => writeCaptures(queries, captures, nowMs));
  }
}
