/**
 * The one SQLite file of a data folder: opening, the schema and its migrations, and a thin typed face over node:sqlite,
 * which nothing else imports. It knows no rows: what they mean is the ledger's and the job store's business.
 *
 * A file that cannot be read as a database is moved aside under a name that says when, never deleted, and a new one is
 * begun; `notice` tells the caller, so that it is said and not silently done.
 */
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, renameSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

export type SqlValue = string | number | null | Uint8Array;
export type Row = Record<string, SqlValue>;

export interface Statement {
  /** Returns the rowid of the last inserted row and the number of rows changed. */
  run(...values: SqlValue[]): { lastId: number; changes: number };
  get(...values: SqlValue[]): Row | undefined;
  all(...values: SqlValue[]): Row[];
}

/** A database file that was set aside because it could not be used. */
export interface SetAside {
  file: string;
  movedTo: string;
  reason: string;
}

export interface Database {
  readonly file: string;
  /** Set if another file stood here that could not be used. */
  readonly notice: SetAside | null;
  prepare(sql: string): Statement;
  exec(sql: string): void;
  /** Runs `work` in one transaction: all of it is written, or none if it throws. Must not be nested. */
  transaction<T>(work: () => T): T;
  close(): void;
}

/** SQLite's primary result code of a failure, such as 5 (busy) or 13 (full); null if the failure is not SQLite's. */
export function sqliteCode(error: unknown): number | null {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return null;
  return error.errcode & 0xff;
}

/** `migrations[n]` brings a file from version n to n + 1. Published ones are never edited; a change is a new entry. */
const migrations: readonly string[] = [
  `
  -- No index over all rows beside the rowid, so that a row costs the same at a million rows as at none: an index on the random id alone
  -- trebles it. Queries go by \`seq\`, which follows the time of arrival.
  CREATE TABLE requests (
    seq INTEGER PRIMARY KEY, id TEXT NOT NULL, started_at REAL NOT NULL, key_id TEXT, group_id TEXT,
    route TEXT NOT NULL, method TEXT NOT NULL, capability TEXT, model_asked TEXT, stream INTEGER NOT NULL,
    outcome TEXT, status INTEGER, error_code TEXT, model_served TEXT, provider TEXT, credential TEXT,
    queue_ms REAL, connect_ms REAL, first_byte_ms REAL, total_ms REAL, bytes_in INTEGER, bytes_out INTEGER,
    upstream_request_id TEXT, attempts TEXT, -- JSON, only where the row does not say it all: see ledger/rows.ts
    usage TEXT, usage_certainty TEXT, cost_usd REAL, client TEXT, client_retries INTEGER
  );
  -- Holds only requests in flight: finds those that a crash left so, without reading the table at the start.
  CREATE INDEX requests_running ON requests (seq) WHERE outcome IS NULL;
  -- Sums by quarter of an hour (every time zone's days begin at one), so that a summary reads these and not the requests.
  CREATE TABLE usage_cells (
    dimension TEXT NOT NULL, quarter INTEGER NOT NULL, name TEXT NOT NULL,
    requests INTEGER NOT NULL, errors INTEGER NOT NULL, input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL,
    cached_input_tokens INTEGER NOT NULL, reasoning_tokens INTEGER NOT NULL, seconds REAL NOT NULL,
    characters INTEGER NOT NULL, images INTEGER NOT NULL, cost_usd REAL NOT NULL, unpriced_requests INTEGER NOT NULL,
    PRIMARY KEY (dimension, quarter, name)
  ) WITHOUT ROWID;
  CREATE TABLE key_uses (key_id TEXT PRIMARY KEY, last_used_at REAL NOT NULL) WITHOUT ROWID;
  CREATE TABLE captures (
    seq INTEGER PRIMARY KEY, id TEXT NOT NULL, captured_at REAL NOT NULL, request BLOB, response BLOB
  );
  CREATE INDEX captures_by_id ON captures (id);
  CREATE TABLE jobs (
    kind TEXT NOT NULL, group_id TEXT NOT NULL, id TEXT NOT NULL, provider_id TEXT NOT NULL, credential_id TEXT,
    model TEXT, key_id TEXT, created_at REAL NOT NULL,
    PRIMARY KEY (kind, group_id, id)
  ) WITHOUT ROWID;
  CREATE INDEX jobs_by_time ON jobs (kind, group_id, created_at, id);
  `,
];

/**
 * Opens or begins the database `file`, readable by its owner only, or one in memory for `:memory:`.
 * Throws if the folder cannot be written or another process holds the file.
 */
export function openDatabase(file: string): Database {
  if (file === ':memory:') return wrap(openAndMigrate(file), file, null);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  makePrivate(file);
  try {
    return wrap(openAndMigrate(file), file, null);
  } catch (error) {
    const reason = reasonToSetAside(error);
    if (reason === null) throw error;
    const movedTo = setAside(file);
    makePrivate(file);
    return wrap(openAndMigrate(file), file, { file, movedTo, reason });
  }
}

class NewerDatabase extends Error {}

function openAndMigrate(file: string): DatabaseSync {
  const raw = new DatabaseSync(file, { timeout: 2_000 });
  try {
    raw.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY');
    migrate(raw);
    // From here on every statement runs beside open streams: rather fail at once, and be retried, than make them wait.
    raw.exec('PRAGMA busy_timeout = 20');
    return raw;
  } catch (error) {
    raw.close();
    throw error;
  }
}

function migrate(raw: DatabaseSync): void {
  const version = Number(raw.prepare('PRAGMA user_version').get()?.user_version);
  if (version > migrations.length) throw new NewerDatabase(`it is of version ${version}, of a newer program`);
  migrations.slice(version).forEach((sql, index) => {
    raw.exec(`BEGIN IMMEDIATE; ${sql}; PRAGMA user_version = ${version + index + 1}; COMMIT`);
  });
}

const corrupt = 11;
const notADatabase = 26;

function reasonToSetAside(error: unknown): string | null {
  const code = sqliteCode(error);
  const unusable = code === corrupt || code === notADatabase || error instanceof NewerDatabase;
  return unusable && error instanceof Error ? error.message : null;
}

/** SQLite gives the `-wal` and `-shm` files the permissions of the main one, so it must be private before it is opened. */
function makePrivate(file: string): void {
  closeSync(openSync(file, 'a', 0o600));
  chmodSync(file, 0o600);
}

function setAside(file: string): string {
  const stem = `${file}.set-aside-${new Date().toISOString().replaceAll(':', '-').slice(0, 19)}`;
  let movedTo = stem;
  for (let count = 2; existsSync(movedTo); count += 1) movedTo = `${stem}-${count}`;
  for (const suffix of ['', '-wal', '-shm']) {
    if (existsSync(file + suffix)) renameSync(file + suffix, movedTo + suffix);
  }
  return movedTo;
}

function wrap(raw: DatabaseSync, file: string, notice: SetAside | null): Database {
  return {
    file,
    notice,
    prepare: (sql) => prepare(raw, sql),
    exec: (sql) => raw.exec(sql),
    transaction(work) {
      raw.exec('BEGIN IMMEDIATE');
      try {
        const result = work();
        raw.exec('COMMIT');
        return result;
      } catch (error) {
        // A full disk has already rolled it back by itself.
        if (raw.isTransaction) raw.exec('ROLLBACK');
        throw error;
      }
    },
    close: () => raw.close(),
  };
}

function prepare(raw: DatabaseSync, sql: string): Statement {
  const statement = raw.prepare(sql);
  return {
    run(...values) {
      const result = statement.run(...values);
      return { lastId: Number(result.lastInsertRowid), changes: Number(result.changes) };
    },
    get: (...values) => statement.get(...values) as Row | undefined,
    all: (...values) => statement.all(...values) as Row[],
  };
}
