/** SQL statements for the table `jobs`. */

import type { Job, JobKind, KnownJobs } from '../ports/job-store.ts';
import { type KeptJob, toValues } from '../sqlite/job-rows.ts';
import { byText, columnsOf, replaced, unnest } from './columns.ts';

/** Column types, in the order of `toValues`. */
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
  input_tokens: 'double precision',
  session: 'text',
};
const names = Object.keys(jobTypes).join(', ');

/**
 * Only the ledger clears `owed`. It stays cleared even if a replica that does not know of it yet writes the job again.
 */
export const upsertJobsSql = `INSERT INTO jobs (${names}) SELECT * FROM ${unnest(jobTypes)}
  ON CONFLICT (kind, group_id, id) DO UPDATE SET
    ${replaced(['provider_id', 'credential_id', 'model', 'key_id', 'created_at', 'upstream_id'])},
    input_tokens = coalesce(excluded.input_tokens, jobs.input_tokens),
    session = coalesce(excluded.session, jobs.session),
    last_used_at = greatest(jobs.last_used_at, excluded.last_used_at),
    owed = CASE WHEN EXISTS (
      SELECT 1 FROM booked_jobs AS booked
      WHERE booked.kind = jobs.kind AND booked.group_id = jobs.group_id AND booked.id = jobs.id
    ) THEN NULL ELSE coalesce(excluded.owed, jobs.owed) END`;

export const insertNewJobsSql = `INSERT INTO jobs (${names}) SELECT * FROM ${unnest(jobTypes)}
  WHERE NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.id = given.id) ON CONFLICT DO NOTHING`;

export const deleteJobsSql = `DELETE FROM jobs USING ${unnest({ kind: 'text', group_id: 'text', id: 'text' })}
  WHERE jobs.kind = given.kind AND jobs.group_id = given.group_id AND jobs.id = given.id`;

export const owingSql = 'SELECT * FROM jobs WHERE owed IS NOT NULL ORDER BY created_at';

export const sweepSql = `DELETE FROM jobs WHERE (kind, group_id, id) IN
  (SELECT kind, group_id, id FROM jobs WHERE last_used_at < $1 LIMIT 1000)`;

/** Sorted the same way everywhere, so that replicas do not deadlock. */
export const jobColumns = (jobs: readonly KeptJob[]) => columnsOf(jobs.map(toValues).sort(byText));

export const keyOf = ({ kind, groupId, id }: Pick<Job, 'kind' | 'groupId' | 'id'>) => `${kind}\n${groupId}\n${id}`;

/** Jobs of any group, found by a look-up. */
export class FoundJobs implements KnownJobs {
  readonly #jobs: readonly KeptJob[];
  readonly #onUse: (keptJob: KeptJob) => void;

  /** `onUse` is called for each job that is returned. */
  constructor(jobs: readonly KeptJob[], onUse: (keptJob: KeptJob) => void) {
    this.#jobs = jobs;
    this.#onUse = onUse;
  }

  find(kind: JobKind, id: string, groupId: string): Job | undefined {
    return this.#use(this.#jobs.find(({ job }) => job.kind === kind && job.id === id && job.groupId === groupId));
  }

  findAny(id: string, groupId: string): Job | 'foreign' | undefined {
    const own = this.#jobs.find(({ job }) => job.id === id && job.groupId === groupId);
    if (own) return this.#use(own);
    return this.#jobs.some(({ job }) => job.id === id) ? 'foreign' : undefined;
  }

  #use(keptJob: KeptJob | undefined): Job | undefined {
    if (keptJob) this.#onUse(keptJob);
    return keptJob?.job;
  }
}
