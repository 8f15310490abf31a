/**
 * Jobs in memory and in PostgreSQL. Jobs that this replica used recently are found in memory, even while the database
 * is unavailable. A job never changes its owner, so the copy in memory stays correct whatever other replicas do. The
 * exception is `owed`, because another replica may have billed the job.
 */
import { GatewayError } from '../../contract/errors.ts';
import { messageOf } from '../../database/failures.ts';
import { type Job, type JobKind, type JobPage, jobKinds } from '../../jobs/job.ts';
import { type KeptJob, toKept } from '../../jobs/job-rows.ts';
import type { JobList, JobStore, KnownJobs } from '../../jobs/job-store.ts';
import { LruMap } from '../../lru-map.ts';
import type { MaybePromise } from '../../maybe-promise.ts';
import { columnsOf, removeWritten } from './columns.ts';
import { explained } from './failures.ts';
import { FoundJobs, placeOf } from './found-jobs.ts';
import { deleteJobsSql, insertNewJobsSql, jobColumns, owingSql, pageSql, sweepSql, upsertJobsSql } from './job-rows.ts';
import { LaterWrite } from './later-write.ts';
import type { Postgres } from './postgres.ts';
import { repeat } from './repeat.ts';

interface Options {
  postgres: Postgres;
  log: { warn(fields: object, message: string): void };
  /** Days without use after which a job is deleted. Called on each use. */
  retentionDays(): number;
  now?: () => number;
}

const dayMs = 86_400_000;
const sweepEveryMs = 6 * 3_600_000;
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
    const place = placeOf(job);
    if (this.#memory.get(place) || this.#pending.has(place)) return;
    this.#new.set(place, { job, lastUsedAt: this.#now() });
    this.#dropOldest(this.#new);
    this.#writing.due();
    return this.#writing.flushSoon();
  }

  lookUp(ids: readonly string[], groupId: string): MaybePromise<KnownJobs> {
    const near = ids.flatMap((id) => this.#nearBy(id, groupId));
    if (!ids.every((id) => near.some(({ job }) => job.id === id))) return this.#ask(ids, near);
    const mayBeBilled = near.some(({ job }) => job.owed && !this.#pending.has(placeOf(job)));
    // Billing twice is better than not finding the job.
    return mayBeBilled ? this.#ask(ids, []).catch(() => this.#found(near)) : this.#found(near);
  }

  async #ask(ids: readonly string[], near: readonly KeptJob[]): Promise<KnownJobs> {
    const { postgres } = this.#options;
    const { rows } = await explained(() => postgres.ask('SELECT * FROM jobs WHERE id = ANY($1)', ids), cannotLookUp);
    const stored = rows.flatMap((row) => toKept(row) ?? []).filter(({ job }) => !this.#forgotten.has(placeOf(job)));
    const waiting = [...this.#new.values()].filter(({ job }) => ids.includes(job.id));
    return this.#found([...near, ...stored, ...waiting]);
  }

  #found(kept: readonly KeptJob[]): KnownJobs {
    return new FoundJobs(kept, (used) => this.#noteUse(used));
  }

  #nearBy(id: string, groupId: string): KeptJob[] {
    return jobKinds.flatMap((kind) => {
      const place = placeOf({ kind, id, groupId });
      return this.#memory.get(place) ?? this.#pending.get(place) ?? [];
    });
  }

  /** Written at most once a day, so that polling a video does not write each time. */
  #noteUse(found: KeptJob): void {
    const nowMs = this.#now();
    const known = this.#memory.get(placeOf(found.job));
    // This replica may have settled it since it was read.
    const { job, lastUsedAt } = known && !known.job.owed ? known : found;
    if (nowMs - lastUsedAt >= dayMs) this.#keep({ job, lastUsedAt: nowMs });
    else this.#memory.set(placeOf(job), { job, lastUsedAt });
  }

  async list(kind: JobKind, groupId: string, page: JobPage): Promise<JobList> {
    await this.flush();
    const { sql, values } = pageSql(kind, groupId, page);
    const { rows } = await explained(() => this.#options.postgres.ask(sql, ...values), cannotLookUp);
    const jobs = rows.flatMap((row) => toKept(row)?.job ?? []);
    return { jobs: jobs.slice(0, page.limit), hasMore: jobs.length > page.limit };
  }

  forget(kind: JobKind, id: string, groupId: string): void {
    const place = placeOf({ kind, id, groupId });
    this.#memory.delete(place);
    this.#pending.delete(place);
    this.#new.delete(place);
    this.#forgotten.set(place, { kind, groupId, id });
    this.#dropOldest(this.#forgotten);
    this.#writing.due();
  }

  async owing(): Promise<Job[]> {
    await this.flush();
    const { rows } = await this.#options.postgres.ask(owingSql);
    // New or settled jobs may not be written yet.
    const known = [...rows.flatMap((row) => toKept(row) ?? []), ...this.#pending.values()];
    const owing = [...new Map(known.map((kept) => [placeOf(kept.job), kept])).values()].filter(
      ({ job }) => (this.#memory.get(placeOf(job))?.job ?? job).owed,
    );
    for (const kept of owing) this.#memory.set(placeOf(kept.job), kept);
    return owing.map(({ job }) => job);
  }

  /** If several replicas settle a job, the ledger books only the first. */
  settle(named: Pick<Job, 'kind' | 'id' | 'groupId'>): Job | undefined {
    const place = placeOf(named);
    const job = (this.#memory.get(place) ?? this.#pending.get(place))?.job;
    if (!job?.owed) return undefined;
    const { owed: _, ...settled } = job;
    const kept = { job: settled, lastUsedAt: this.#now() };
    this.#memory.set(place, kept);
    if (this.#pending.has(place)) this.#pending.set(place, kept);
    return job;
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

  #keep(kept: KeptJob): void {
    const place = placeOf(kept.job);
    this.#memory.set(place, kept);
    this.#new.delete(place);
    this.#pending.delete(place);
    this.#pending.set(place, kept);
    this.#dropOldest(this.#pending);
    this.#writing.due();
  }

  #dropOldest(waiting: Map<string, unknown>): void {
    const [oldest] = waiting.keys();
    if (waiting.size > maxPending && oldest !== undefined) waiting.delete(oldest);
  }

  async #write(): Promise<void> {
    const pending = new Map(this.#pending);
    const made = new Map(this.#new);
    const forgotten = new Map(this.#forgotten);
    await this.#options.postgres.transaction(async (queries) => {
      const gone = [...forgotten.values()];
      if (gone.length > 0)
        await queries.ask(deleteJobsSql, ...columnsOf(gone.map((each) => [each.kind, each.groupId, each.id])));
      if (pending.size > 0) await queries.ask(upsertJobsSql, ...jobColumns([...pending.values()]));
      if (made.size > 0) await queries.ask(insertNewJobsSql, ...jobColumns([...made.values()]));
    });
    removeWritten(this.#pending, pending);
    removeWritten(this.#new, made);
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
