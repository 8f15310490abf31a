/** Deletes what is old: requests by whole days, so that it costs the same however many there are. */

import { number } from '../../database/columns.ts';
import type { RetentionLimits } from '../../ledger/retention.ts';
import { quartersPerDay } from '../../ledger/usage-cells.ts';
import { captureTables } from './captures.ts';
import { isTemporary } from './failures.ts';
import { partitionDayIn } from './partitions.ts';
import type { Postgres } from './postgres.ts';

/** Who reads or writes a partition for longer holds it up until the next sweep. */
const lockMs = 2_000;

/**
 * Today by the database's clock, which all replicas share. Days before the returned one are dropped: older than the retention, or
 * beyond the number of requests.
 */
const firstDaySql = `WITH today AS (SELECT floor(extract(epoch FROM now()) / 86400)::integer AS day),
    counted AS (
      SELECT day, sum(sum(requests)) OVER (ORDER BY day DESC) AS requests FROM usage_days WHERE dimension = 'day' GROUP BY day
    )
  SELECT greatest(today.day - $1::integer, coalesce((SELECT max(day) FROM counted WHERE requests > $2), 0)) AS day FROM today`;

/** Resolves with the number of days that were dropped. */
export async function sweepLedger(postgres: Postgres, limits: RetentionLimits): Promise<number> {
  const { rows } = await postgres.ask(firstDaySql, limits.retentionDays, limits.retentionRows);
  const firstDay = number(rows[0]?.day) ?? 0;
  const dropped = await dropPartitions(postgres, 'requests', firstDay);
  await postgres.ask('DELETE FROM request_names WHERE day < $1', firstDay);
  await postgres.ask('DELETE FROM sessions WHERE last_seq < (SELECT min(seq) FROM requests)');
  // Totals are small: they expire by age, but are not subject to the limit on rows.
  const today = `floor(extract(epoch FROM now()) / 86400)::integer`;
  await postgres.ask(`DELETE FROM usage_days WHERE day < ${today} - $1::integer`, limits.retentionDays);
  await postgres.ask(
    `DELETE FROM usage_quarters WHERE quarter < (${today} - $1::integer) * ${quartersPerDay}`,
    limits.retentionDays,
  );
  // A batch is written again within minutes, a job is booked within a day, or never.
  await postgres.ask(`DELETE FROM ledger_batches WHERE written_at < now() - interval '7 days'`);
  await postgres.ask(`DELETE FROM booked_jobs WHERE booked_at < now() - interval '30 days'`);
  const captures = await postgres.ask(`SELECT ${today} - $1::integer AS day`, limits.captureRetentionDays);
  for (const table of captureTables) await dropPartitions(postgres, table, number(captures.rows[0]?.day) ?? 0);
  return dropped;
}

/** Drops the partitions of days before one. A partition that is in use stays until the next sweep. */
export async function dropPartitions(postgres: Postgres, table: string, firstDay: number): Promise<number> {
  const { rows } = await postgres.ask(
    `SELECT relname AS name FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid WHERE inhparent = $1::regclass`,
    table,
  );
  const names = rows.map(({ name }) => String(name)).filter((name) => (partitionDayIn(name) ?? firstDay) < firstDay);
  let dropped = 0;
  for (const name of names) if (await drop(postgres, name)) dropped += 1;
  return dropped;
}

async function drop(postgres: Postgres, name: string): Promise<boolean> {
  try {
    await postgres.transaction(async (queries) => {
      await queries.script(`SET LOCAL lock_timeout = ${lockMs}; DROP TABLE IF EXISTS ${name}`);
    });
    return true;
  } catch (error) {
    if (isTemporary(error)) return false;
    throw error;
  }
}
