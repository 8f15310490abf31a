/** SQL statements for the table `jobs`. */
import type { SqlValue } from '../../database/database.ts';
import type { JobKind, JobPage } from '../../jobs/job.ts';
import { type KeptJob, toValues } from '../../jobs/job-rows.ts';
import { columnsOf, replaced, unnest } from './columns.ts';

/** Types by column, in the order of `toValues`. */
export const jobTypes = {
  kind: 'text',
  group_id: 'text',
  id: 'text',
  provider_id: 'text',
  credential_id: 'text',
  model: 'text',
  key_id: 'text',
  created_at: 'double precision',
  last_used_at: 'double precision',
  upstream_id: 'text',
  owed: 'json',
};
const names = Object.keys(jobTypes).join(', ');

/** A job that another replica has settled stays so: only the ledger ends what a job owes. */
export const upsertJobsSql = `INSERT INTO jobs (${names}) SELECT * FROM ${unnest(jobTypes)}
  ON CONFLICT (kind, group_id, id) DO UPDATE SET
    ${replaced(['provider_id', 'credential_id', 'model', 'key_id', 'created_at', 'upstream_id'])},
    last_used_at = greatest(jobs.last_used_at, excluded.last_used_at), owed = coalesce(excluded.owed, jobs.owed)`;

export const insertNewJobsSql = `INSERT INTO jobs (${names}) SELECT * FROM ${unnest(jobTypes)}
  WHERE NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.id = given.id) ON CONFLICT DO NOTHING`;

export const deleteJobsSql = `DELETE FROM jobs USING ${unnest({ kind: 'text', group_id: 'text', id: 'text' })}
  WHERE jobs.kind = given.kind AND jobs.group_id = given.group_id AND jobs.id = given.id`;

export const owingSql = 'SELECT * FROM jobs WHERE owed IS NOT NULL ORDER BY created_at';

export const sweepSql = `DELETE FROM jobs WHERE (kind, group_id, id) IN
  (SELECT kind, group_id, id FROM jobs WHERE last_used_at < $1 LIMIT 1000)`;

export const jobColumns = (jobs: readonly KeptJob[]) => columnsOf(jobs.map(toValues));

/** Selects one job more than the limit, which tells whether there is another page. */
export function pageSql(kind: JobKind, groupId: string, page: JobPage): { sql: string; values: SqlValue[] } {
  const isAscending = page.order === 'asc';
  const direction = isAscending ? 'ASC' : 'DESC';
  const values: SqlValue[] = [kind, groupId, page.limit + 1];
  const isNext = page.after !== undefined;
  const cursor = 'SELECT created_at, id FROM jobs WHERE kind = $1 AND group_id = $2 AND id = $4';
  const condition = isNext ? `AND (created_at, id) ${isAscending ? '>' : '<'} (${cursor})` : '';
  return {
    sql: `SELECT * FROM jobs WHERE kind = $1 AND group_id = $2 ${condition}
      ORDER BY created_at ${direction}, id ${direction} LIMIT $3`,
    values: isNext ? [...values, page.after ?? ''] : values,
  };
}
