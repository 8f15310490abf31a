/** The report of `sluice doctor` on the shared database. Changes nothing. */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { settleWithin } from '../../ground/timers.ts';
import { number, text } from '../rules/columns.ts';
import { postgresMigrations } from './migrations.ts';
import { readAddress, resolveAddress, startProblem } from './open-database.ts';
import { clientConfig, Postgres } from './postgres.ts';

const aboutSql = `SELECT current_setting('server_version') AS version, to_regclass('schema_migrations') IS NOT NULL AS has_tables,
  pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on' AS is_read_only,
  current_setting('max_connections')::integer AS connections, pg_size_pretty(pg_database_size(current_database())) AS size,
  abs(extract(epoch FROM now()) * 1000 - $1::float8) AS clock_off_ms`;
const replicasSql = `SELECT count(*) AS replicas FROM replicas WHERE seen_at > now() - interval '1 minute'`;
/** With a larger clock difference, requests are recorded under the wrong days. */
const mostClockOffMs = 60_000;

interface Examined {
  ok: boolean;
  message: string;
}

/** Never rejects. */
export async function examineDatabase(
  givenAddress: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Examined> {
  try {
    const url = await resolveAddress(givenAddress, env);
    const address = readAddress(url);
    const postgres = new Postgres({ url, connections: 1, failed() {} });
    try {
      const examined = await examine(postgres, url);
      return { ...examined, message: `${address.host}, database "${address.database}": ${examined.message}` };
    } catch (error) {
      throw startProblem(error, address);
    } finally {
      await postgres.close();
    }
  } catch (error) {
    return { ok: false, message: error instanceof Error ? error.message : String(error) };
  }
}

async function examine(postgres: Postgres, url: string): Promise<Examined> {
  const askedMs = performance.now();
  const { rows } = await postgres.ask(aboutSql, Date.now());
  const tookMs = performance.now() - askedMs;
  const databaseFacts = rows[0] ?? {};
  if (databaseFacts.is_read_only)
    return { ok: false, message: 'it is read-only; name the primary server, not a standby' };
  const clockOffMs = number(databaseFacts.clock_off_ms) ?? 0;
  if (clockOffMs > mostClockOffMs) {
    const seconds = Math.round(clockOffMs / 1_000);
    return { ok: false, message: `its clock and this machine's are ${seconds} s apart; set them by NTP` };
  }
  const noticesProblem = await examineNotices(url);
  if (noticesProblem !== null) return { ok: false, message: noticesProblem };
  const { state, ok } = databaseFacts.has_tables ? await examineTables(postgres) : { state: 'no tables yet', ok: true };
  const facts = [
    `PostgreSQL ${text(databaseFacts.version)}`,
    `answers in ${tookMs.toFixed(1)} ms`,
    `${text(databaseFacts.size)}`,
    `${number(databaseFacts.connections)} connections`,
    state,
  ];
  return { ok, message: facts.join(', ') };
}

const noticeWithinMs = 2_000;

/**
 * Null if a notice arrives, as replicas need to follow one another at once. A pooler that pools by transaction takes `LISTEN`
 * and delivers nothing.
 */
async function examineNotices(url: string): Promise<string | null> {
  const client = new pg.Client(clientConfig({ url }));
  client.on('error', () => {});
  const topic = `sluice_doctor_${randomBytes(8).toString('hex')}`;
  try {
    await client.connect();
    const arrived = new Promise<boolean>((resolve) => {
      client.on('notification', ({ channel }) => resolve(channel === topic));
    });
    await client.query(`LISTEN ${topic}`);
    await client.query(`NOTIFY ${topic}`);
    const isThere = await Promise.race([arrived, settleWithin(noticeWithinMs, arrived).then(() => false)]);
    if (isThere) return null;
    return 'notices (LISTEN) do not arrive, so replicas follow changes up to 5 s late: a pooler such as PgBouncer must pool by session (pool_mode = session)';
  } finally {
    await client.end();
  }
}

async function examineTables(postgres: Postgres): Promise<{ state: string; ok: boolean }> {
  const { rows } = await postgres.ask(
    'SELECT max(version) AS version, max(oldest_program) AS oldest FROM schema_migrations',
  );
  const version = number(rows[0]?.version) ?? 0;
  if ((number(rows[0]?.oldest) ?? 0) > postgresMigrations.length) {
    return { state: 'changed by a newer Sluice, which this version cannot follow: update Sluice', ok: false };
  }
  if (version < postgresMigrations.length) {
    return { state: `schema ${version}, which the next start brings to ${postgresMigrations.length}`, ok: true };
  }
  const alive = await postgres.ask(replicasSql);
  const running = number(alive.rows[0]?.replicas);
  const key = await postgres.ask('SELECT former IS NOT NULL AS is_changing FROM secret_key');
  const change = key.rows[0]?.is_changing
    ? ', the change of the passphrase is to be ended by: sluice passphrase finish'
    : '';
  return {
    state: `schema ${version}, ${running} ${running === 1 ? 'replica' : 'replicas'} running${change}`,
    ok: true,
  };
}
