/** Connections to PostgreSQL. Nothing outside this folder imports this file, and it is loaded only if used. */
import pg from 'pg';
import { after, every, settleWithin } from '../../ground/timers.ts';
import type { Row, SqlValue } from '../rules/columns.ts';
import { postgresNotation, type Sql, type SqlParameter, written } from '../rules/condition-sql.ts';
import { messageOf } from '../rules/failures.ts';

/** A value of a parameter; a list becomes a PostgreSQL array. */
export type Parameter = SqlParameter;

interface QueryReply {
  rows: Row[];
  /** The number of rows returned, inserted, updated or deleted. */
  count: number;
}

/** Runs statements, either separately or all in one transaction. */
export interface Queries {
  ask(sql: string, ...values: Parameter[]): Promise<QueryReply>;
  /** Runs any number of statements without parameters. */
  script(sql: string): Promise<void>;
}

export interface PostgresOptions {
  /** `postgres://user:password@host:port/database?sslmode=…`; secret. A function is called for each connection. */
  url: string | (() => string);
  /** Default 4. */
  connections?: number;
  /** Time limit for a statement. Default 10 s. */
  statementMs?: number;
  /** Time limit for connecting, and the extra time for an answer after a statement's limit. Default 5 s. */
  connectMs?: number;
  /** Called when an idle connection breaks; the pool replaces it. */
  failed(error: Error): void;
}

const defaultConnections = 4;
const defaultStatementMs = 10_000;
const defaultConnectMs = 5_000;
const closeMs = 1_000;
/** Busy connections too are opened anew from time to time, with the user and password of then. */
const maxLifetimeSeconds = 30 * 60;

/** `int8` and `numeric` are counts and sums below 2^53. JSON stays text, so that rows look like SQLite's. */
const ownParsers = new Map<number, (text: string) => unknown>([
  [20, Number],
  [1700, Number],
  [114, String],
  [3802, String],
]);
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) => ownParsers.get(oid) ?? pg.types.getTypeParser(oid, format),
};

export function clientConfig({
  url,
  statementMs = defaultStatementMs,
  connectMs = defaultConnectMs,
}: Omit<PostgresOptions, 'failed'>): pg.ClientConfig {
  return {
    connectionString: typeof url === 'string' ? url : url(),
    application_name: 'sluice',
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
    // JIT-compiling a statement over all days takes a second; running it takes milliseconds.
    options: '-c jit=off',
    statement_timeout: statementMs,
    // For a server that does not answer at all.
    query_timeout: statementMs + connectMs,
    types,
  };
}

/** The rows of a read. */
export async function readRows(queries: Pick<Queries, 'ask'>, read: Sql): Promise<Row[]> {
  const { text, values } = written(read, postgresNotation);
  return (await queries.ask(text, ...values)).rows;
}

/** A pool of connections. Statements reject with errors, which are classified below. */
export class Postgres implements Queries {
  readonly #pool: pg.Pool;
  readonly #queries: Queries;

  constructor(options: PostgresOptions) {
    this.#pool = new pg.Pool({
      ...clientConfig(options),
      Client: clientOf(options),
      max: options.connections ?? defaultConnections,
      maxLifetimeSeconds,
      allowExitOnIdle: true,
    });
    this.#pool.on('error', options.failed);
    // A connection that breaks during a transaction also emits `error`, and Node ends the process on an `error` event
    // without a listener. The current or next statement rejects.
    this.#pool.on('connect', (client) => client.on('error', () => {}));
    this.#queries = queriesOf(this.#pool);
  }

  ask(sql: string, ...values: Parameter[]): Promise<QueryReply> {
    return this.#queries.ask(sql, ...values);
  }

  script(sql: string): Promise<void> {
    return this.#queries.script(sql);
  }

  /** Runs `work` in a transaction, which is rolled back if it rejects. */
  async transaction<T>(work: (queries: Queries) => Promise<T>): Promise<T> {
    return this.#transact(await this.#begin(), work);
  }

  /** Like `transaction`, for a caller who waits: rejects soon if the server does not answer, and runs nothing then. */
  async transactionSoon<T>(work: (queries: Queries) => Promise<T>): Promise<T> {
    return this.#transact(await withTimeout(this.#begin(), (client) => client.release(true)), work);
  }

  async #begin(): Promise<pg.PoolClient> {
    const client = await this.#pool.connect();
    try {
      await client.query('BEGIN');
      return client;
    } catch (error) {
      client.release(true);
      throw error;
    }
  }

  async #transact<T>(client: pg.PoolClient, work: (queries: Queries) => Promise<T>): Promise<T> {
    let rollbackError: Error | undefined;
    try {
      const result = await work(queriesOf(client));
      await client.query('COMMIT');
      return result;
    } catch (error) {
      rollbackError = await rollBack(client, error);
      throw error;
    } finally {
      // A connection that cannot roll back is not reused.
      client.release(rollbackError);
    }
  }

  /**
   * Runs `work` outside a transaction while holding the advisory lock. Resolves with null if the lock is held
   * elsewhere. The statements of `work` use the connection that holds the lock.
   */
  async exclusive<T>(lock: number, work: (queries: Queries) => Promise<T>): Promise<T | null> {
    const client = await this.#pool.connect();
    const queries = queriesOf(client);
    // The lock ends with its connection, which is not reused if anything failed.
    let isDone = false;
    try {
      const { rows } = await queries.ask('SELECT pg_try_advisory_lock($1) AS taken', lock);
      const result = rows[0]?.taken ? await work(queries) : null;
      if (rows[0]?.taken) await queries.ask('SELECT pg_advisory_unlock($1)', lock);
      isDone = true;
      return result;
    } finally {
      client.release(!isDone);
    }
  }

  /** Waits a short time for running statements. */
  close(): Promise<void> {
    return settleWithin(closeMs, this.#pool.end());
  }
}

function clientOf(options: PostgresOptions): new () => pg.Client {
  return class extends pg.Client {
    constructor() {
      super(clientConfig(options));
    }
  };
}

/** Resolves with an error if the connection must not be reused. */
async function rollBack(client: pg.PoolClient, error: unknown): Promise<Error | undefined> {
  // A server that has not answered would only take the time of another statement.
  if (sqlStateOf(error) === null) return error instanceof Error ? error : new Error('the work failed');
  return client.query('ROLLBACK').then(
    () => undefined,
    (failure: Error) => failure,
  );
}

/** PostgreSQL's text cannot contain NUL, which clients can put into names. */
function storable(value: Parameter): SqlValue {
  if (typeof value === 'string') return value.includes('\0') ? value.replaceAll('\0', '\ufffd') : value;
  return Array.isArray(value) ? `{${value.map(elementOf).join(',')}}` : (value as SqlValue);
}

/** An array element. pg quotes all of them, which takes three times as long and more bytes. */
function elementOf(value: SqlValue): string {
  if (value === null) return 'NULL';
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'string') return `"\\\\x${Buffer.from(value).toString('hex')}"`;
  return /[\\"\0]/.test(value) ? `"${escaped(value)}"` : `"${value}"`;
}

function escaped(value: string): string {
  return value.replaceAll('\0', '\ufffd').replaceAll(/[\\"]/g, '\\$&');
}

function queriesOf(by: pg.Pool | pg.PoolClient): Queries {
  return {
    async ask(sql, ...values) {
      const { rows, rowCount } = await by.query<Row>(sql, values.map(storable));
      return { rows, count: rowCount ?? rows.length };
    },
    async script(sql) {
      await by.query(sql);
    },
  };
}

// Limits for a server that may not answer.

/** How long a person waits for a server that does not answer. */
const queryTimeoutMs = 2_500;

/** Rejects if the work has not settled within `queryTimeoutMs`; what comes of it later is given to `late`. */
export async function withTimeout<T>(work: Promise<T>, late: (result: T) => void = () => {}): Promise<T> {
  let isLate = false;
  work.then((result) => isLate && late(result)).catch(() => {});
  const limit = Promise.withResolvers<never>();
  const timer = after(() => {
    isLate = true;
    limit.reject(new Error('it does not answer'));
  }, queryTimeoutMs);
  try {
    return await Promise.race([work, limit.promise]);
  } finally {
    clearTimeout(timer);
  }
}

interface Repeated {
  everyMs: number;
  work(): Promise<unknown>;
  log: { warn(fields: object, message: string): void };
  /** Logged if the work fails. It is repeated at the next interval all the same. */
  failed: string;
}

/** Repeats until `clearInterval`; does not keep the process alive. */
export function repeat({ everyMs, ...repeated }: Repeated): NodeJS.Timeout {
  return every(() => doOnce(repeated), everyMs).unref();
}

async function doOnce({ work, log, failed }: Omit<Repeated, 'everyMs'>): Promise<void> {
  try {
    await work();
  } catch (error) {
    log.warn({ error: messageOf(error) }, failed);
  }
}

/** Converts rows to parameters of `unnest`, one list per column. All rows must have the same number of values. */
export function columnsOf(rows: readonly (readonly SqlValue[])[]): SqlValue[][] {
  const [first = []] = rows;
  return first.map((_, column) => rows.map((row) => row[column] ?? null));
}

/** `unnest($1::text[], $2::bigint[]) AS given (kind, bytes)` */
export function unnest(columns: Readonly<Record<string, string>>): string {
  const lists = Object.values(columns).map((type, index) => `$${index + 1}::${type}[]`);
  return `unnest(${lists.join(', ')}) AS given (${Object.keys(columns).join(', ')})`;
}

/** `a = excluded.a, b = excluded.b` */
export function replaced(columns: readonly string[]): string {
  return columns.map((column) => `${column} = excluded.${column}`).join(', ');
}

/** Removes the entries that were written, except those that have changed since. */
export function removeWritten<T>(waiting: Map<string, T>, written: ReadonlyMap<string, T>): void {
  for (const [name, each] of written) if (waiting.get(name) === each) waiting.delete(name);
}

/** A fixed order, so that replicas do not deadlock. */
export function byText(one: readonly unknown[], other: readonly unknown[]): number {
  return one.join('\n') < other.join('\n') ? -1 : 1;
}

// Classifies PostgreSQL's errors: temporary ones, and those that need a person to act.

/**
 * SQLSTATE classes: connection, refused user or password (which may be about to change), transaction to be repeated,
 * resources (disk full), shutdown and cancellation, I/O.
 */
const temporaryClasses = new Set(['08', '28', '40', '53', '57', '58']);
/** Read-only (a standby, or a full disk), lock not available. */
const temporaryCodes = new Set(['25006', '55P03']);

/** The SQLSTATE, such as 23505; null if the server did not answer. */
export function sqlStateOf(error: unknown): string | null {
  return error instanceof pg.DatabaseError ? (error.code ?? null) : null;
}

/** Whether the same statement may succeed later. */
export function isTemporary(error: unknown): boolean {
  const code = sqlStateOf(error);
  if (code !== null) return temporaryClasses.has(code.slice(0, 2)) || temporaryCodes.has(code);
  // The server did not answer: refused, reset, timed out, name not resolved.
  return error instanceof Error && !(error instanceof TypeError);
}

/** SQLSTATE classes: two rows for one, wrong values, violated constraints, limits of the program, exceptions of triggers. */
const classesOfValues = new Set(['21', '22', '23', '54', 'P0']);

/**
 * Whether these rows can never be written. Every other error can be fixed at the server, for example a missing
 * privilege, a changed password or a restored database.
 */
export function failsForEver(error: unknown): boolean {
  // Raised for a missing partition, which can be created, and for a violated constraint, which has a name.
  if (error instanceof pg.DatabaseError && error.code === '23514') return error.constraint !== undefined;
  // Text that is too long for a string is a RangeError.
  if (error instanceof TypeError || error instanceof RangeError) return true;
  return classesOfValues.has(sqlStateOf(error)?.slice(0, 2) ?? '');
}

/** Rejects with `explain(error)` for a temporary error, and with any other error unchanged. */
export async function explained<T>(ask: () => Promise<T>, explain: (error: unknown) => Error): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    throw isTemporary(error) ? explain(error) : error;
  }
}

export const isUniqueViolation = (error: unknown) => sqlStateOf(error) === '23505';
