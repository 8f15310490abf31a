/**
 * Opens a PostgreSQL database and migrates it to this version. Imported only if a database is configured, because the
 * driver costs time and memory.
 */
import { GatewayError } from '../../contract/errors.ts';
import { FollowedFiles } from '../../ground/files/follow-file.ts';
import { resolveSecret, secretFileOf } from '../../secrets/secret-store.ts';
import { number } from '../rules/columns.ts';
import { messageOf } from '../rules/failures.ts';
import { type Migration, postgresMigrations as ownMigrations } from './migrations.ts';
import { Notices } from './notices.ts';
import { isTemporary, Postgres, type PostgresOptions, type Queries, sqlStateOf } from './postgres.ts';

interface Options extends Pick<PostgresOptions, 'url'> {
  log: { warn(fields: object, message: string): void };
  /** As in `PostgresOptions`. */
  statementMs?: number;
}

/** Changing large tables takes time, as does waiting for another replica that is migrating. */
const migrationMs = 30 * 60_000;

export interface OpenDatabase {
  readonly postgres: Postgres;
  /** Separate connections, so that queries do not delay writes. */
  readonly reading: Postgres;
  readonly notices: Notices;
  /** Must be called after everything that uses the database is closed. */
  close(): Promise<void>;
}

/** A few statements on the tables of this version. Rejects with a GatewayError that says what to do if it fails. */
export async function withDatabase<T>(
  { address: given, env, log }: Pick<Options, 'log'> & { address: string; env: Parameters<typeof resolveAddress>[1] },
  work: (postgres: Postgres) => Promise<T>,
): Promise<T> {
  const url = await resolveAddress(given, env);
  const database = await openPostgresDatabase({ url, log });
  try {
    return await work(database.postgres);
  } catch (error) {
    throw startProblem(error, readAddress(url));
  } finally {
    await database.close();
  }
}

/** Rejects with a GatewayError that says what to do if the database cannot be used. */
export async function openPostgresDatabase({ url, log, statementMs }: Options): Promise<OpenDatabase> {
  const address: Address = readAddress(typeof url === 'string' ? url : url());
  const connectionLost = ({ message }: Error) => log.warn({ error: message }, 'a connection to the database was lost');
  const migrating = new Postgres({ url, failed: connectionLost, connections: 1, statementMs: migrationMs });
  try {
    await migratePostgres(migrating);
  } catch (error) {
    throw startProblem(error, address);
  } finally {
    await migrating.close();
  }
  const options = { url, failed: connectionLost, ...(statementMs !== undefined && { statementMs }) };
  const postgres = new Postgres(options);
  const reading = new Postgres(options);
  const notices = new Notices({ url, log });
  return {
    postgres,
    reading,
    notices,
    async close() {
      await Promise.all([notices.close(), reading.close(), postgres.close()]);
    },
  };
}

/** An arbitrary number that no other program uses in the same database. */
const migrationLock = 4_810_001;

/**
 * Applies the missing migrations in one transaction, once even if several replicas start at the same time. Rejects with
 * a GatewayError `internal` if a newer version of Sluice has made the tables unusable for this one, and with
 * PostgreSQL's error if privileges are missing.
 */
export async function migratePostgres(
  postgres: Postgres,
  migrations: readonly Migration[] = ownMigrations,
): Promise<void> {
  await postgres.transaction(async (queries) => {
    await queries.ask('SELECT pg_advisory_xact_lock($1)', migrationLock);
    await queries.ask(
      `CREATE TABLE IF NOT EXISTS schema_migrations (
         version integer PRIMARY KEY, name text NOT NULL, oldest_program integer NOT NULL,
         applied_at timestamptz NOT NULL DEFAULT now()
       )`,
    );
    const version = await readVersion(queries, migrations.length);
    for (const [index, migration] of migrations.entries()) if (index >= version) await apply(queries, index, migration);
  });
}

/** The number of migrations already applied. */
async function readVersion(queries: Queries, newestVersion: number): Promise<number> {
  const { rows } = await queries.ask(
    'SELECT coalesce(max(version), 0) AS version, coalesce(max(oldest_program), 0) AS oldest FROM schema_migrations',
  );
  if ((number(rows[0]?.oldest) ?? 0) > newestVersion) {
    throw new GatewayError(
      'internal',
      'A newer Sluice has changed the database, and this version cannot use it. Update Sluice.',
    );
  }
  return number(rows[0]?.version) ?? 0;
}

async function apply(queries: Queries, index: number, { name, sql, oldestProgram = 0 }: Migration): Promise<void> {
  await queries.script(sql);
  await queries.ask(
    'INSERT INTO schema_migrations (version, name, oldest_program) VALUES ($1, $2, $3)',
    index + 1,
    name,
    oldestProgram,
  );
}

/**
 * Converts the error into one line that says what to do about a database that cannot be used. Other errors are returned
 * unchanged.
 */
export function startProblem(error: unknown, { host, user, database }: Address): unknown {
  if (error instanceof GatewayError) return error;
  const unavailable = (message: string) => new GatewayError('storage_unavailable', message, { cause: error });
  switch (sqlStateOf(error)) {
    case '28P01':
    case '28000':
      return unavailable(`PostgreSQL at ${host} refuses the user "${user}". Check name, password and pg_hba.conf.`);
    case '3D000':
      return unavailable(
        `PostgreSQL at ${host} has no database "${database}". Create it: createdb --owner ${user} ${database}`,
      );
    case '42501':
      return unavailable(
        `The user "${user}" may not make Sluice's tables in the database "${database}" at ${host}. ` +
          `Make it the owner: ALTER DATABASE "${database}" OWNER TO "${user}"`,
      );
    // A table, sequence or index with that name already exists.
    case '42P07':
      return unavailable(
        `The database "${database}" at ${host} has tables of another program (${messageOf(error)}). ` +
          `Give Sluice a database of its own: createdb --owner ${user} sluice`,
      );
    case '25006':
      return unavailable(`The database "${database}" at ${host} is read-only. Name the primary server, not a standby.`);
    default:
      return isTemporary(error)
        ? unavailable(
            `PostgreSQL at ${host} cannot be used now (${messageOf(error)}). Check that it runs and can be reached.`,
          )
        : error;
  }
}

/** Whether a start that failed with this error may succeed later without a change of its settings. */
export function mayPass(error: unknown): boolean {
  if (!(error instanceof GatewayError) || error.code !== 'storage_unavailable') return false;
  // The database may still have to be created.
  return isTemporary(error.cause) || sqlStateOf(error.cause) === '3D000';
}

// Resolves the address of a database, which is given as a URL or as a reference to one.

/** The parts of a database's address, without the password. */
export interface Address {
  /** Includes the port. */
  host: string;
  user: string;
  database: string;
}

type Env = Readonly<Record<string, string | undefined>>;

const isReference = (text: string) => text.startsWith('env:') || text.startsWith('file:');

/**
 * Accepts `postgres://…`, `env:NAME` or `file:PATH`; the password in the URL may be such a reference too. Rejects with
 * a GatewayError `invalid_value` that never contains a password.
 */
export async function resolveAddress(givenAddress: string, env: Env): Promise<string> {
  return (await resolveParts(givenAddress, env)).url;
}

/** An address that follows the files that it refers to. */
interface FollowedAddress {
  /** As of now; secret. */
  readonly url: string;
  /** Reads the files again. A failure is logged, and the address stays as it was. */
  read(): Promise<void>;
  close(): void;
}

/** Like `resolveAddress`. New connections use what its files hold by then. */
export async function followAddress(
  givenAddress: string,
  env: Env,
  log: { warn(fields: object, message: string): void },
): Promise<FollowedAddress> {
  let current = await resolveParts(givenAddress, env);
  const read = async () => {
    try {
      current = await resolveParts(givenAddress, env);
      files.follow(current.files);
    } catch (error) {
      log.warn({ error: messageOf(error) }, 'the address of the database cannot be read again; it stays as it was');
    }
  };
  const files = new FollowedFiles(() => void read());
  files.follow(current.files);
  return {
    get url() {
      return current.url;
    },
    read,
    close: () => files.close(),
  };
}

async function resolveParts(givenAddress: string, env: Env): Promise<{ url: string; files: string[] }> {
  const url = isReference(givenAddress) ? (await resolve(givenAddress, env)).trim() : givenAddress;
  readAddress(url);
  const parsed = new URL(url);
  const password = decoded(parsed.password);
  const files = [givenAddress, password].flatMap((reference) => secretFileOf(reference) ?? []);
  if (!isReference(password)) return { url: withVerifiedTls(url), files };
  parsed.password = encodeURIComponent(await resolve(password, env));
  return { url: withVerifiedTls(parsed.href), files };
}

/** pg treats these modes as `verify-full` and prints a six-line warning about it at each start. */
function withVerifiedTls(url: string): string {
  if (/[?&]uselibpqcompat=true(?:&|$)/.test(url)) return url;
  return url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/, '$1verify-full');
}

async function resolve(reference: string, env: Env): Promise<string> {
  const store = { get: async () => undefined };
  const value = await resolveSecret(reference, { name: 'store', store, env });
  if (value !== undefined) return value;
  throw new GatewayError('invalid_value', `The address of the database refers to ${reference}, which holds no value.`);
}

/** Throws a GatewayError `invalid_value` that does not contain the URL if it is not a PostgreSQL URL. */
export function readAddress(url: string): Address {
  const parsed = URL.parse(url);
  if (parsed === null || !['postgres:', 'postgresql:'].includes(parsed.protocol)) throw unusableAddress();
  const user = decoded(parsed.username);
  decoded(parsed.password);
  return { host: decoded(parsed.host) || 'localhost', user, database: decoded(parsed.pathname.slice(1)) || user };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw unusableAddress();
  }
}

function unusableAddress(): GatewayError {
  return new GatewayError(
    'invalid_value',
    'The address of the database cannot be used. Write it as postgres://USER:PASSWORD@HOST:PORT/DATABASE, and "%", "@", ":" and "/" in a password as %25, %40, %3A and %2F.',
  );
}
