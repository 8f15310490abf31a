/** Periodically deletes old records, at one replica at a time. */
import { after, every } from '../../ground/timers.ts';
import { number } from '../rules/columns.ts';
import { messageOf } from '../rules/failures.ts';
import { quartersPerDay } from '../sqlite/derived-rows.ts';
import type { RetentionLimits } from '../sqlite/retention.ts';
import { type CaptureRoom, captureTables } from './captures.ts';
import { partitionDayIn } from './partitions.ts';
import { isTemporary, type Postgres, type Queries } from './postgres.ts';

interface Options {
  postgres: Postgres;
  log: { warn(fields: object, message: string): void };
  settings(): RetentionLimits;
  captureRoom: Pick<CaptureRoom, 'trim'>;
}

const firstSweepMs = 60_000;
const sweepEveryMs = 15 * 60_000;
/** An arbitrary number that no other program uses in the same database. */
const sweepLock = 4_810_004;

export class Sweeps {
  readonly #options: Options;
  readonly #first = after(() => this.#sweepQuietly(), firstSweepMs).unref();
  readonly #every = every(() => this.#sweepQuietly(), sweepEveryMs).unref();
  #running: Promise<number> | null = null;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Resolves with the number of days dropped; 0 if another replica is sweeping. Rejects with PostgreSQL's error. */
  sweep(): Promise<number> {
    this.#running ??= this.#sweep().finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  async #sweep(): Promise<number> {
    const { postgres, settings, captureRoom } = this.#options;
    const dropped = await postgres.exclusive(sweepLock, (queries) => sweepLedger(queries, settings()));
    await captureRoom.trim();
    return dropped ?? 0;
  }

  async close(): Promise<void> {
    clearTimeout(this.#first);
    clearInterval(this.#every);
    await this.#running?.catch(() => {});
  }

  async #sweepQuietly(): Promise<void> {
    try {
      await this.sweep();
    } catch (error) {
      this.#options.log.warn({ error: messageOf(error) }, 'old records cannot be deleted');
    }
  }
}

/** A partition that is in use for longer than this is kept until the next sweep. */
const lockMs = 2_000;

/** Uses the database's clock, which all replicas share. */
const today = `floor(extract(epoch FROM now()) / 86400)::integer`;

/** Days before the returned one are dropped: they are older than the retention or beyond the limit on requests. */
const firstDaySql = `WITH counted AS (
      SELECT day, sum(sum(requests)) OVER (ORDER BY day DESC) AS requests FROM usage_days WHERE dimension = 'day' GROUP BY day
    )
  SELECT greatest(${today} - $1::integer, coalesce((SELECT max(day) FROM counted WHERE requests > $2), 0)) AS day`;

/**
 * Deletes old records. Requests are deleted by whole days, so that the cost does not depend on their number.
 *
 * Resolves with the number of days dropped.
 */
export async function sweepLedger(queries: Queries, limits: RetentionLimits): Promise<number> {
  const { rows } = await queries.ask(firstDaySql, limits.retentionDays, limits.retentionRows);
  const firstDay = number(rows[0]?.day) ?? 0;
  const dropped = await dropPartitions(queries, 'requests', firstDay);
  await queries.ask('DELETE FROM request_names WHERE day < $1', firstDay);
  await queries.ask('DELETE FROM sessions WHERE last_seq < (SELECT min(seq) FROM requests)');
  // Totals are small, so they expire by age but are not limited in number.
  await queries.ask(`DELETE FROM usage_days WHERE day < ${today} - $1::integer`, limits.retentionDays);
  await queries.ask(
    `DELETE FROM usage_quarters WHERE quarter < (${today} - $1::integer) * ${quartersPerDay}`,
    limits.retentionDays,
  );
  // A batch is written again within minutes, or later from a replica's disk; in that case its rows are recognized by
  // their ids. A job is booked within a day or never.
  await queries.ask(`DELETE FROM ledger_batches WHERE written_at < now() - interval '7 days'`);
  await queries.ask(`DELETE FROM booked_jobs WHERE booked_at < now() - interval '30 days'`);
  const captures = await queries.ask(`SELECT ${today} - $1::integer AS day`, limits.captureRetentionDays);
  const firstCaptureDay = number(captures.rows[0]?.day) ?? 0;
  for (const table of captureTables) await dropPartitions(queries, table, firstCaptureDay);
  await queries.ask('DELETE FROM capture_sizes WHERE day < $1', firstCaptureDay);
  return dropped;
}

interface Partition {
  name: string;
  /** `pending`: detaching has begun but is not complete. `detached`: only dropping is left. */
  state: 'attached' | 'pending' | 'detached';
}

/**
 * Drops the partitions of days before `firstDay`, and returns how many. Each is detached first, which waits for its
 * users without blocking others. What does not finish in time is continued at the next sweep. `queries` must use a
 * single connection.
 */
async function dropPartitions(queries: Queries, table: string, firstDay: number): Promise<number> {
  const oldPartitions = (await partitionsOf(queries, table)).filter(
    ({ name }) => (partitionDayIn(name) ?? firstDay) < firstDay,
  );
  if (oldPartitions.length === 0) return 0;
  await queries.ask(`SET lock_timeout = ${lockMs}`);
  let dropped = 0;
  try {
    for (const partition of oldPartitions) {
      await drop(queries, table, partition);
      dropped += 1;
    }
  } catch (error) {
    if (!isTemporary(error)) throw error;
  }
  await queries.ask('RESET lock_timeout');
  return dropped;
}

const partitionsSql = `SELECT relname AS name,
    CASE WHEN inhrelid IS NULL THEN 'detached' WHEN inhdetachpending THEN 'pending' ELSE 'attached' END AS state
  FROM pg_class LEFT JOIN pg_inherits ON inhrelid = oid
  WHERE relkind = 'r' AND relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = $1::regclass)
    AND relname ~ $2 ORDER BY relname`;

/** In chronological order, except that a pending one comes first, because no other can be detached before it. */
async function partitionsOf(queries: Queries, table: string): Promise<Partition[]> {
  const { rows } = await queries.ask(partitionsSql, table, `^${table}_[0-9]{4}_[0-9]{2}_[0-9]{2}$`);
  const partitions = rows.map(({ name, state }) => ({
    name: String(name),
    state: String(state) as Partition['state'],
  }));
  return [
    ...partitions.filter(({ state }) => state === 'pending'),
    ...partitions.filter(({ state }) => state !== 'pending'),
  ];
}

async function drop(queries: Queries, table: string, { name, state }: Partition): Promise<void> {
  if (state !== 'detached') {
    const mode = state === 'pending' ? 'FINALIZE' : 'CONCURRENTLY';
    await queries.ask(`ALTER TABLE ${table} DETACH PARTITION ${name} ${mode}`);
  }
  await queries.ask(`DROP TABLE IF EXISTS ${name}`);
}
