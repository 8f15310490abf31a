/**
 * A SQLite file of a data folder: a thin typed face over node:sqlite, which nothing else imports. It knows no rows:
 * what they mean is the ledger's and the job store's business.
 *
 * It outlives what happens to the file. One that cannot be opened now (locked, a full disk) is tried again with the next
 * statement; one that turns out to be damaged is moved aside under a name that says when, never deleted, and a new one is
 * begun; one that was removed is begun anew. Each time `onReplaced` tells, so that it is said and not silently done.
 */
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { describeFileProblem } from '../files/file-problem.ts';
import { fileIdentity, makePrivateFile, setFileAside } from './database-file.ts';
import { DatabaseUnavailable, isDamage, sqliteCode } from './failures.ts';
import { ledgerMigrations, migrate, NewerDatabase } from './schema.ts';

export type SqlValue = string | number | null | Uint8Array;
export type Row = Record<string, SqlValue>;

export interface Statement {
  /** Returns the rowid of the last inserted row and the number of rows changed. */
  run(...values: SqlValue[]): { lastId: number; changes: number };
  get(...values: SqlValue[]): Row | undefined;
  all(...values: SqlValue[]): Row[];
}

/** A database file that could not be used any more; another was begun in its place. */
export interface Replaced {
  file: string;
  /** Null if it was no longer there. */
  movedTo: string | null;
  reason: string;
}

export interface Database {
  readonly file: string;
  /** Set if another file stood here at the opening that could not be used. */
  readonly notice: Replaced | null;
  /** May be called while the file cannot be opened; it is prepared when it is first run, and again for a new file. */
  prepare(sql: string): Statement;
  exec(sql: string): void;
  /** Runs `work` in one transaction: all of it is written, or none if it throws. Must not be nested. */
  transaction<T>(work: () => T): T;
  /** Calls back after another file has taken the place of the one so far, with nothing in it. */
  onReplaced(listener: (replaced: Replaced) => void): void;
  close(): void;
}

/**
 * Opens or begins the database `file`, readable by its owner only, or one in memory for `:memory:`. Does not throw where
 * that is not possible now: statements do, with a failure that `mayPass`. `migrations` make its tables; absent: the ledger's.
 */
export function openDatabase(file: string, migrations: readonly string[] = ledgerMigrations): Database {
  return new LastingDatabase(file, migrations);
}

/** For one who holds the file at the start; nothing else runs yet. */
const firstWaitMs = 2_000;
/** Afterwards every statement runs beside open streams: rather fail at once, and be retried, than make them wait. */
const laterWaitMs = 20;
/** After a failure to open the file, statements fail at once for this long. */
const reopenAfterMs = 1_000;
/** A removed file is noticed after this time at most, if something is written. */
const lookEveryMs = 1_000;

class LastingDatabase implements Database {
  readonly file: string;
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
    this.file = file;
    this.#migrations = migrations;
    this.notice = this.#open(firstWaitMs);
  }

  prepare(sql: string): Statement {
    let prepared: { by: DatabaseSync; statement: StatementSync } | undefined;
    const statementOf = (raw: DatabaseSync): StatementSync => {
      if (prepared?.by !== raw) prepared = { by: raw, statement: raw.prepare(sql) };
      return prepared.statement;
    };
    return {
      run: (...values) =>
        this.#guarded((raw) => {
          const result = statementOf(raw).run(...values);
          return { lastId: Number(result.lastInsertRowid), changes: Number(result.changes) };
        }),
      get: (...values) => this.#guarded((raw) => statementOf(raw).get(...values) as Row | undefined),
      all: (...values) => this.#guarded((raw) => statementOf(raw).all(...values) as Row[]),
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
        // A full disk has already rolled it back by itself; and a damaged file is no longer open.
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

  /** Once a file is known to be damaged, all else in it is not to be trusted either. */
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
    if (!this.#isClosed && Date.now() - this.#failedAtMs >= reopenAfterMs) this.#tell(this.#open());
    if (this.#raw) return this.#raw;
    throw this.#failure;
  }

  /** Returns what it had to set aside for that. */
  #open(waitMs = laterWaitMs): Replaced | null {
    try {
      const { opened, replaced } = openOrReplace(this.file, waitMs, this.#migrations);
      this.#raw = opened;
      this.#identity = this.file === ':memory:' ? null : fileIdentity(this.file);
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
      const movedTo = setFileAside(this.file);
      this.#open();
      this.#tell({ file: this.file, movedTo, reason: damage.message });
    } catch (error) {
      this.#fail(error);
    }
  }

  /** A file that is not the one that is open was removed by somebody, and perhaps replaced. */
  #lookForFile(): void {
    const nowMs = Date.now();
    if (!this.#raw || this.#identity === null || nowMs - this.#lookedAtMs < lookEveryMs) return;
    this.#lookedAtMs = nowMs;
    const found = fileIdentity(this.file);
    if (found === null || found === this.#identity) return;
    this.#raw.close();
    this.#raw = null;
    this.#open();
    this.#tell({ file: this.file, movedTo: null, reason: 'it was removed while Sluice was running' });
  }

  #tell(replaced: Replaced | null): void {
    if (replaced) for (const listener of this.#listeners) listener(replaced);
  }
}

/** Throws if it is not possible now. */
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
    migrate(raw, migrations);
    raw.exec(`PRAGMA busy_timeout = ${laterWaitMs}`);
    return raw;
  } catch (error) {
    raw.close();
    throw error;
  }
}
