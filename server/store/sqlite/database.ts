/**
 * A thin typed layer over node:sqlite, which no other file imports.
 *
 * It survives failures of the file. If the file cannot be opened (locked, full disk), the next statement tries again. A
 * damaged file is moved aside, never deleted, and a new one is created; a removed file is also replaced by a new one.
 * `onReplaced` reports both.
 */

import { chmodSync, closeSync, existsSync, mkdirSync, openSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { describeFileProblem } from '../../ground/files/regular-file.ts';
import type { Row, SqlValue } from '../rules/columns.ts';
import { type Sql, sqliteNotation, written } from '../rules/condition-sql.ts';
import { DatabaseUnavailable, isDamage, sqliteCode } from '../rules/failures.ts';
import { ledgerMigrations, migrateSqlite, NewerDatabase } from './schema.ts';

export interface Statement {
  /** Returns the number of changed rows. */
  run(...values: SqlValue[]): { changes: number };
  get(...values: SqlValue[]): Row | undefined;
  all(...values: SqlValue[]): Row[];
  /** Reads row by row; the statement must not be used for anything else meanwhile. */
  iterate(...values: SqlValue[]): Iterable<Row>;
}

interface InsertStatement {
  /** Inserts a row and returns its rowid. */
  insert(...values: SqlValue[]): number;
}

/** An unusable or missing database file that was replaced by a new one. */
export interface Replaced {
  file: string;
  /** Null if the file was missing. */
  movedTo: string | null;
  reason: string;
}

export interface Database {
  /** Set if an unusable file was found when it was opened. */
  readonly notice: Replaced | null;
  /** Statements are prepared lazily, and again after a replacement, so this works while the file cannot be opened. */
  prepare(sql: string): Statement;
  /**
   * For an `INSERT INTO … VALUES` that inserts exactly one row or fails. Only such a statement has a rowid to return: after any
   * other, SQLite's last_insert_rowid() is that of an earlier INSERT, whatever its table.
   */
  prepareInsert(sql: string): InsertStatement;
  exec(sql: string): void;
  /** Runs `work` in a transaction, which is rolled back if it throws. Must not be nested. */
  transaction<T>(work: () => T): T;
  /** Calls the listener after the file was replaced by an empty one. */
  onReplaced(listener: (replaced: Replaced) => void): void;
  close(): void;
}

/**
 * Opens or creates the database `file`, readable by its owner only; `:memory:` for one in memory. Does not throw if
 * that is not possible at present; statements then throw an error that `isTemporary`. `migrations` default to the
 * ledger's.
 */
export function openSqliteDatabase(file: string, migrations: readonly string[] = ledgerMigrations): Database {
  return new LastingDatabase(file, migrations);
}

/** Maximum wait for a locked file at start, when nothing else is running. */
const firstWaitMs = 2_000;
/** After the start, a wait blocks all streams, so statements fail quickly and are retried. */
const laterWaitMs = 20;
/** After a failure to open the file, statements fail immediately for this time. */
const reopenAfterMs = 1_000;
/** How often writes check that the file still exists. */
const checkEveryMs = 1_000;

class LastingDatabase implements Database {
  readonly #file: string;
  readonly notice: Replaced | null;
  readonly #migrations: readonly string[];
  readonly #listeners: ((replaced: Replaced) => void)[] = [];
  #raw: DatabaseSync | null = null;
  #identity: number | null = null;
  #failure: unknown;
  #failedAtMs = Number.NEGATIVE_INFINITY;
  #lookedAtMs = 0;
  #isClosed = false;

  constructor(file: string, migrations: readonly string[]) {
    this.#file = file;
    this.#migrations = migrations;
    this.notice = this.#open(firstWaitMs);
  }

  prepare(sql: string): Statement {
    const statementOf = preparedLazily(sql);
    return {
      run: (...values) => this.#guarded((raw) => ({ changes: Number(statementOf(raw).run(...values).changes) })),
      get: (...values) =>
        this.#guarded((raw) => readRows(statementOf(raw), (statement) => statement.get(...values) as Row | undefined)),
      all: (...values) =>
        this.#guarded((raw) => readRows(statementOf(raw), (statement) => statement.all(...values) as Row[])),
      iterate: (...values) => this.#guarded((raw) => iterateRows(statementOf(raw), values)),
    };
  }

  prepareInsert(sql: string): InsertStatement {
    if (!insertsOneRow.test(sql)) throw new Error(`Not an INSERT of one row: ${sql}`);
    const statementOf = preparedLazily(sql);
    return {
      insert: (...values) => this.#guarded((raw) => Number(statementOf(raw).run(...values).lastInsertRowid)),
    };
  }

  exec(sql: string): void {
    this.#guarded((raw) => raw.exec(sql));
  }

  transaction<T>(work: () => T): T {
    this.#lookForFile();
    return this.#guarded((raw) => {
      raw.exec('BEGIN IMMEDIATE');
      try {
        const result = work();
        raw.exec('COMMIT');
        return result;
      } catch (error) {
        // On a full disk SQLite has already rolled back, and a damaged file is already closed.
        if (raw.isOpen && raw.isTransaction) raw.exec('ROLLBACK');
        throw error;
      }
    });
  }

  onReplaced(listener: (replaced: Replaced) => void): void {
    this.#listeners.push(listener);
  }

  close(): void {
    this.#isClosed = true;
    this.#failure = new DatabaseUnavailable('it is closed');
    this.#raw?.close();
    this.#raw = null;
  }

  /** Runs the work; a damaged file is replaced by a new one. */
  #guarded<T>(work: (raw: DatabaseSync) => T): T {
    const raw = this.#raw ?? this.#reopened();
    try {
      return work(raw);
    } catch (error) {
      if (this.#raw === raw && isDamage(error)) this.#replace(error);
      throw error;
    }
  }

  #reopened(): DatabaseSync {
    if (!this.#isClosed && Date.now() - this.#failedAtMs >= reopenAfterMs) this.#report(this.#open());
    if (this.#raw) return this.#raw;
    throw this.#failure;
  }

  /** Returns what was replaced, if anything. */
  #open(waitMs = laterWaitMs): Replaced | null {
    try {
      const { opened, replaced } = openOrReplace(this.#file, waitMs, this.#migrations);
      this.#raw = opened;
      this.#identity = this.#file === ':memory:' ? null : fileIdentity(this.#file);
      return replaced;
    } catch (error) {
      this.#fail(error);
      return null;
    }
  }

  #fail(error: unknown): void {
    this.#failure = sqliteCode(error) === null ? new DatabaseUnavailable(describeFileProblem(error)) : error;
    this.#failedAtMs = Date.now();
  }

  #replace(damage: Error): void {
    this.#raw?.close();
    this.#raw = null;
    try {
      const movedTo = setFileAside(this.#file);
      this.#open();
      this.#report({ file: this.#file, movedTo, reason: damage.message });
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Detects that the open file was removed or replaced. */
  #lookForFile(): void {
    const nowMs = Date.now();
    if (!this.#raw || this.#identity === null || nowMs - this.#lookedAtMs < checkEveryMs) return;
    this.#lookedAtMs = nowMs;
    const identity = fileIdentity(this.#file);
    if (identity === null || identity === this.#identity) return;
    this.#raw.close();
    this.#raw = null;
    this.#open();
    this.#report({ file: this.#file, movedTo: null, reason: 'it was removed while Sluice was running' });
  }

  #report(replaced: Replaced | null): void {
    if (replaced) for (const listener of this.#listeners) listener(replaced);
  }
}

const insertsOneRow = /^INSERT INTO \w+ \([\w, ]+\) VALUES \([?, ]+\)$/;
/** Runs reads. Those that differ only in their values, such as the pieces of a query, share their prepared statement. */
export class Reads {
  readonly #database: Database;
  #latest: { text: string; statement: Statement } | null = null;

  constructor(database: Database) {
    this.#database = database;
  }

  all(read: Sql): Row[] {
    const { text, values } = written(read, sqliteNotation);
    if (this.#latest?.text !== text) this.#latest = { text, statement: this.#database.prepare(text) };
    return this.#latest.statement.all(...(values as SqlValue[]));
  }
}

/** Prepares the statement at its first use, and again for a replaced file. */
function preparedLazily(sql: string): (raw: DatabaseSync) => StatementSync {
  let prepared: { by: DatabaseSync; statement: StatementSync } | undefined;
  return (raw) => {
    if (prepared?.by !== raw) prepared = { by: raw, statement: raw.prepare(sql) };
    return prepared.statement;
  };
}

/**
 * Integers beyond 2^53, which earlier versions could store, are read as the nearest numbers. Node refuses to, and with the one
 * all rows of the statement.
 */
function readRows<Result extends Row | Row[] | undefined>(
  statement: StatementSync,
  read: (statement: StatementSync) => Result,
): Result {
  try {
    return read(statement);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    statement.setReadBigInts(true);
    try {
      const result = read(statement);
      for (const row of Array.isArray(result) ? result : [result]) roundBigInts(row);
      return result;
    } finally {
      statement.setReadBigInts(false);
    }
  }
}

function* iterateRows(statement: StatementSync, values: readonly SqlValue[]): Generator<Row> {
  statement.setReadBigInts(true);
  try {
    for (const row of statement.iterate(...values) as Iterable<Row>) {
      roundBigInts(row);
      yield row;
    }
  } finally {
    statement.setReadBigInts(false);
  }
}

function roundBigInts(row: Row | undefined): void {
  for (const name in row) if (typeof row[name] === 'bigint') row[name] = Number(row[name]);
}

/** Throws if the file cannot be opened at present. */
function openOrReplace(
  file: string,
  waitMs: number,
  migrations: readonly string[],
): { opened: DatabaseSync; replaced: Replaced | null } {
  const open = () => openAndMigrate(file, waitMs, migrations);
  if (file === ':memory:') return { opened: open(), replaced: null };
  makePrivateFile(file);
  try {
    return { opened: open(), replaced: null };
  } catch (error) {
    if (!isDamage(error) && !(error instanceof NewerDatabase)) throw error;
    const movedTo = setFileAside(file);
    makePrivateFile(file);
    return { opened: open(), replaced: { file, movedTo, reason: error.message } };
  }
}

function openAndMigrate(file: string, waitMs: number, migrations: readonly string[]): DatabaseSync {
  const raw = new DatabaseSync(file, { timeout: waitMs });
  try {
    raw.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY');
    migrateSqlite(raw, migrations);
    raw.exec(`PRAGMA busy_timeout = ${laterWaitMs}`);
    return raw;
  } catch (error) {
    raw.close();
    throw error;
  }
}

/**
 * Makes the file private before SQLite opens it, because `-wal` and `-shm` inherit its permissions. An existing file is
 * not opened here: closing it would drop all POSIX locks that this process holds on it.
 */
function makePrivateFile(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  if (!existsSync(file)) closeSync(openSync(file, 'a', 0o600));
  chmodSync(file, 0o600);
}

/** The inode; 0 if there is no file, null if it cannot be determined. */
function fileIdentity(file: string): number | null {
  try {
    return statSync(file, { throwIfNoEntry: false })?.ino ?? 0;
  } catch {
    return null;
  }
}

/** Renames the file with its `-wal` and `-shm`; returns the new name. */
function setFileAside(file: string): string {
  const stem = `${file}.set-aside-${new Date().toISOString().replaceAll(':', '-').slice(0, 19)}`;
  let movedTo = stem;
  for (let count = 2; existsSync(movedTo); count += 1) movedTo = `${stem}-${count}`;
  for (const suffix of ['', '-wal', '-shm']) {
    if (existsSync(file + suffix)) renameSync(file + suffix, movedTo + suffix);
  }
  return movedTo;
}
