/**
 * Jobs in memory and in PostgreSQL. Jobs that this replica used recently are found in memory, even while the database
 * is unavailable. A job never changes its owner, so the copy in memory stays correct whatever other replicas do. The
 * exception is `owed`, because another replica may have billed the job.
 */
import { GatewayError } from '../../contract/errors.ts';
import { dayMs, hourMs } from '../../contract/units.ts';
import { LruMap } from '../../ground/collections.ts';
import type { MaybePromise } from '../../ground/promises.ts';
import { type Job, type JobKind, type JobStore, jobKinds, type KnownJobs } from '../ports/kept-stores.ts';
import { messageOf } from '../rules/failures.ts';
import { type KeptJob, toKept, toValues } from '../sqlite/job-store.ts';
import { LaterWrite } from './later-write.ts';
import { byText, columnsOf, explained, type Postgres, removeWritten, repeat, replaced, unnest } from './postgres.ts';

interface Options {
  postgres: Postgres;
  log: { warn(fields: object, message: string): void };
  /** Days without use after which a job is deleted. Called on each use. */
  retentionDays(): number;
  now?: () => number;
}

const sweepEveryMs = 6 * hourMs;
const maxInMemory = 4_096;
/**
 * Long enough to write concurrent requests together, and short because the id may be used at another replica at once.
 */
const flushMs = 5;
/**
 * The most jobs that wait to be written while writing fails. Beyond this, the oldest are not written but stay in
 * memory.
 */
const maxPending = 10_000;

export class PostgresJobStore implements JobStore {
  readonly #options: Options;
  readonly #now: () => number;
  readonly #memory = new LruMap<KeptJob>(maxInMemory);
  readonly #pending = new Map<string, KeptJob>();
  /** Jobs that may already have an owner. */
  readonly #new = new Map<string, KeptJob>();
  readonly #forgotten = new Map<string, Pick<Job, 'kind' | 'groupId' | 'id'>>();
  readonly #writing: LaterWrite;
  readonly #sweeps: NodeJS.Timeout;

  constructor(options: Options) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#writing = new LaterWrite({
      write: () => this.#write(),
      failed: (error) => options.log.warn({ error, waiting: this.#pending.size }, 'jobs cannot be written'),
      delayMs: flushMs,
    });
    this.#sweeps = repeat({
      everyMs: sweepEveryMs,
      work: () => this.sweep(),
      log: options.log,
      failed: 'old jobs cannot be forgotten',
    });
  }

  remember(job: Job): Promise<void> {
    this.#keep({ job, lastUsedAt: this.#now() });
    return this.#writing.flushSoon();
  }

  rememberNew(job: Job): MaybePromise<void> {
    const key = keyOf(job);
    if (this.#memory.get(key) || this.#pending.has(key)) return;
    this.#new.set(key, { job, lastUsedAt: this.#now() });
    this.#dropOldest(this.#new);
    this.#writing.due();
    return this.#writing.flushSoon();
  }

  lookUp(ids: readonly string[], groupId: string, { withSizes = false } = {}): MaybePromise<KnownJobs> {
    const nearbyJobs = ids.flatMap((id) => this.#nearBy(id, groupId));
    // Another replica may have noted the size since it was read.
    const isUnsized = withSizes && nearbyJobs.some(({ job }) => job.inputTokens === undefined);
    if (isUnsized) return this.#askForSizes(ids, nearbyJobs);
    if (!ids.every((id) => nearbyJobs.some(({ job }) => job.id === id))) return this.#ask(ids, nearbyJobs);
    const mayBeBilled = nearbyJobs.some(({ job }) => job.owed && !this.#pending.has(keyOf(job)));
    // Billing twice is better than not finding the job.
    return mayBeBilled ? this.#ask(ids, []).catch(() => this.#foundJobs(nearbyJobs)) : this.#foundJobs(nearbyJobs);
  }

  #askForSizes(ids: readonly string[], nearbyJobs: readonly KeptJob[]): Promise<KnownJobs> {
    const isSized = ({ job }: KeptJob) => job.inputTokens !== undefined;
    const unsizedJobs = nearbyJobs.filter((keptJob) => !isSized(keptJob));
    return this.#ask(ids, nearbyJobs.filter(isSized), unsizedJobs).catch(() => this.#foundJobs(nearbyJobs));
  }

  /** `nearbyJobs` are preferred to what is stored, which is preferred to `staleJobs`. */
  async #ask(
    ids: readonly string[],
    nearbyJobs: readonly KeptJob[],
    staleJobs: readonly KeptJob[] = [],
  ): Promise<KnownJobs> {
    const { postgres } = this.#options;
    const { rows } = await explained(() => postgres.ask('SELECT * FROM jobs WHERE id = ANY($1)', ids), cannotLookUp);
    const storedJobs = rows.flatMap((row) => toKept(row) ?? []).filter(({ job }) => !this.#forgotten.has(keyOf(job)));
    const waitingJobs = [...this.#new.values()].filter(({ job }) => ids.includes(job.id));
    return this.#foundJobs([...nearbyJobs, ...storedJobs, ...waitingJobs, ...staleJobs]);
  }

  #foundJobs(keptJobs: readonly KeptJob[]): KnownJobs {
    return new FoundJobs(keptJobs, (keptJob) => this.#noteUse(keptJob));
  }

  #nearBy(id: string, groupId: string): KeptJob[] {
    return jobKinds.flatMap((kind) => {
      const key = keyOf({ kind, id, groupId });
      return this.#memory.get(key) ?? this.#pending.get(key) ?? [];
    });
  }

  /** Written at most once a day, so that polling a video does not write each time. */
  #noteUse(keptJob: KeptJob): void {
    const nowMs = this.#now();
    const latest = this.#memory.get(keyOf(keptJob.job));
    // This replica may have settled it since it was read.
    const { job: known, lastUsedAt } = latest && !latest.job.owed ? latest : keptJob;
    const inputTokens = known.inputTokens ?? keptJob.job.inputTokens;
    const job = inputTokens === undefined ? known : { ...known, inputTokens };
    if (nowMs - lastUsedAt >= dayMs) this.#keep({ job, lastUsedAt: nowMs });
    else this.#memory.set(keyOf(job), { job, lastUsedAt });
  }

  forget(kind: JobKind, id: string, groupId: string): void {
    const key = keyOf({ kind, id, groupId });
    this.#memory.delete(key);
    this.#pending.delete(key);
    this.#new.delete(key);
    this.#forgotten.set(key, { kind, groupId, id });
    this.#dropOldest(this.#forgotten);
    this.#writing.due();
  }

  async owing(): Promise<Job[]> {
    await this.flush();
    const { rows } = await this.#options.postgres.ask(owingSql);
    // New or settled jobs may not be written yet.
    const candidates = [...rows.flatMap((row) => toKept(row) ?? []), ...this.#pending.values()];
    const owingJobs = [...new Map(candidates.map((keptJob) => [keyOf(keptJob.job), keptJob])).values()].filter(
      ({ job }) => (this.#memory.get(keyOf(job))?.job ?? job).owed,
    );
    for (const keptJob of owingJobs) this.#memory.set(keyOf(keptJob.job), keptJob);
    return owingJobs.map(({ job }) => job);
  }

  /** If several replicas settle a job, the ledger books only the first. */
  settle(jobName: Pick<Job, 'kind' | 'id' | 'groupId'>): Job | undefined {
    const key = keyOf(jobName);
    const job = (this.#memory.get(key) ?? this.#pending.get(key))?.job;
    if (!job?.owed) return undefined;
    const { owed: _, ...settled } = job;
    const keptJob = { job: settled, lastUsedAt: this.#now() };
    this.#memory.set(key, keptJob);
    if (this.#pending.has(key)) this.#pending.set(key, keptJob);
    return job;
  }

  noteSize(jobName: Pick<Job, 'kind' | 'id' | 'groupId'>, inputTokens: number): void {
    const key = keyOf(jobName);
    const keptJob = this.#memory.get(key) ?? this.#pending.get(key);
    if (keptJob) this.#keep({ ...keptJob, job: { ...keptJob.job, inputTokens } });
  }

  flush(): Promise<void> {
    return this.#writing.flush();
  }

  async sweep(): Promise<number> {
    await this.flush();
    const usedBeforeMs = this.#now() - this.#options.retentionDays() * dayMs;
    this.#memory.deleteWhere(({ lastUsedAt }) => lastUsedAt < usedBeforeMs);
    let deleted = 0;
    for (let count = 1; count > 0; deleted += count) {
      ({ count } = await this.#options.postgres.ask(sweepSql, usedBeforeMs));
    }
    return deleted;
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeps);
    await this.#writing.close();
  }

  #keep(keptJob: KeptJob): void {
    const key = keyOf(keptJob.job);
    this.#memory.set(key, keptJob);
    this.#new.delete(key);
    this.#pending.delete(key);
    this.#pending.set(key, keptJob);
    this.#dropOldest(this.#pending);
    this.#writing.due();
  }

  #dropOldest(entries: Map<string, unknown>): void {
    const [oldest] = entries.keys();
    if (entries.size > maxPending && oldest !== undefined) entries.delete(oldest);
  }

  async #write(): Promise<void> {
    const pending = new Map(this.#pending);
    const newJobs = new Map(this.#new);
    const forgotten = new Map(this.#forgotten);
    await this.#options.postgres.transaction(async (queries) => {
      const deletedJobs = [...forgotten.values()];
      if (deletedJobs.length > 0)
        await queries.ask(deleteJobsSql, ...columnsOf(deletedJobs.map((each) => [each.kind, each.groupId, each.id])));
      if (pending.size > 0) await queries.ask(upsertJobsSql, ...jobColumns([...pending.values()]));
      if (newJobs.size > 0) await queries.ask(insertNewJobsSql, ...jobColumns([...newJobs.values()]));
    });
    removeWritten(this.#pending, pending);
    removeWritten(this.#new, newJobs);
    removeWritten(this.#forgotten, forgotten);
  }
}

function cannotLookUp(error: unknown): GatewayError {
  return new GatewayError(
    'storage_unavailable',
    `Sluice cannot look up the provider of this object: the database cannot be read now (${messageOf(error)}). Try again in a moment.`,
    { cause: error },
  );
}

// SQL statements for the table `jobs`.

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
const upsertJobsSql = `INSERT INTO jobs (${names}) SELECT * FROM ${unnest(jobTypes)}
  ON CONFLICT (kind, group_id, id) DO UPDATE SET
    ${replaced(['provider_id', 'credential_id', 'model', 'key_id', 'created_at', 'upstream_id'])},
    input_tokens = coalesce(excluded.input_tokens, jobs.input_tokens),
    session = coalesce(excluded.session, jobs.session),
    last_used_at = greatest(jobs.last_used_at, excluded.last_used_at),
    owed = CASE WHEN EXISTS (
      SELECT 1 FROM booked_jobs AS booked
      WHERE booked.kind = jobs.kind AND booked.group_id = jobs.group_id AND booked.id = jobs.id
    ) THEN NULL ELSE coalesce(excluded.owed, jobs.owed) END`;

const insertNewJobsSql = `INSERT INTO jobs (${names}) SELECT * FROM ${unnest(jobTypes)}
  WHERE NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.id = given.id) ON CONFLICT DO NOTHING`;

const deleteJobsSql = `DELETE FROM jobs USING ${unnest({ kind: 'text', group_id: 'text', id: 'text' })}
  WHERE jobs.kind = given.kind AND jobs.group_id = given.group_id AND jobs.id = given.id`;

const owingSql = 'SELECT * FROM jobs WHERE owed IS NOT NULL ORDER BY created_at';

const sweepSql = `DELETE FROM jobs WHERE (kind, group_id, id) IN
  (SELECT kind, group_id, id FROM jobs WHERE last_used_at < $1 LIMIT 1000)`;

/** Sorted the same way everywhere, so that replicas do not deadlock. */
const jobColumns = (jobs: readonly KeptJob[]) => columnsOf(jobs.map(toValues).sort(byText));

const keyOf = ({ kind, groupId, id }: Pick<Job, 'kind' | 'groupId' | 'id'>) => `${kind}\n${groupId}\n${id}`;

/** Jobs of any group, found by a look-up. */
class FoundJobs implements KnownJobs {
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
