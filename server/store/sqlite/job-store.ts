/**
 * Jobs in memory and in SQLite. A lookup that is not in memory is a synchronous point read (20 µs), which is acceptable
 * on these rare routes.
 */

import { setImmediate } from 'node:timers/promises';
import { GatewayError } from '../../contract/errors.ts';
import type { Reserved } from '../../contract/ledger.ts';
import { dayMs, hourMs } from '../../contract/units.ts';
import { after, every } from '../../ground/timers.ts';
import { type Job, type JobKind, type JobStore, jobKinds, type KnownJobs } from '../ports/kept-stores.ts';
import { json, number, type Row, type SqlValue, text } from '../rules/columns.ts';
import { isTemporary, messageOf } from '../rules/failures.ts';
import type { Database, Statement } from './database.ts';
import { createSweepClock, type SweepClock } from './retention.ts';

interface JobStoreOptions {
  database: Database;
  log: { warn(fields: object, message: string): void };
  /** Days without use after which a job is deleted. Called on each use. */
  retentionDays?: () => number;
  /** The time by which jobs expire. */
  sweepClock?: SweepClock;
}

/** OpenAI's retention of stored responses. */
const defaultRetentionDays = 30;
const firstSweepMs = 90_000;
const sweepEveryMs = 6 * hourMs;
const maxInMemory = 4_096;
const flushMs = 50;
const retryMs = 1_000;
/**
 * Maximum number of jobs waiting to be written while writing fails; beyond it the oldest are not written, but stay in
 * memory.
 */
const maxPending = 10_000;

const cacheKey = (kind: JobKind, id: string, groupId: string) => `${kind}\n${groupId}\n${id}`;

export function createJobStore(options: JobStoreOptions): SqliteJobStore {
  return new SqliteJobStore(options);
}

export class SqliteJobStore implements JobStore, KnownJobs {
  readonly #database: Database;
  readonly #log: JobStoreOptions['log'];
  readonly #retentionDays: () => number;
  readonly #sweepClock: SweepClock;
  readonly #insert: Statement;
  readonly #select: Statement;
  readonly #selectById: Statement;
  readonly #remove: Statement;
  readonly #writeSize: Statement;
  readonly #owing: Statement;
  readonly #sweepBefore: (usedBeforeMs: number) => Promise<number>;
  readonly #firstSweep = after(() => this.#sweepQuietly(), firstSweepMs).unref();
  readonly #sweeps = every(() => this.#sweepQuietly(), sweepEveryMs).unref();
  /** Least recently used first: a Map keeps insertion order, and each use moves a job to the end. */
  readonly #memory = new Map<string, KeptJob>();
  readonly #pending = new Map<string, KeptJob>();
  /** Jobs whose size is to be written. Not the whole job: only the ledger may clear what it owes. */
  readonly #sized = new Map<string, Job>();
  #timer: NodeJS.Timeout | null = null;
  #isClosed = false;
  #lastError: string | null = null;

  constructor(options: JobStoreOptions) {
    const { database, log, retentionDays = () => defaultRetentionDays } = options;
    this.#sweepClock = options.sweepClock ?? createSweepClock(database);
    this.#database = database;
    this.#log = log;
    this.#retentionDays = retentionDays;
    this.#insert = database.prepare(insertJobSql);
    this.#select = database.prepare('SELECT * FROM jobs WHERE kind = ? AND group_id = ? AND id = ?');
    this.#selectById = database.prepare('SELECT * FROM jobs WHERE id = ?');
    this.#remove = database.prepare('DELETE FROM jobs WHERE kind = ? AND group_id = ? AND id = ?');
    this.#writeSize = database.prepare('UPDATE jobs SET input_tokens = ? WHERE kind = ? AND group_id = ? AND id = ?');
    this.#owing = database.prepare('SELECT * FROM jobs WHERE owed IS NOT NULL ORDER BY created_at');
    this.#sweepBefore = prepareJobSweep(database, () => this.#isClosed);
    // All jobs in memory are written to the replacement file.
    database.onReplaced(() => {
      for (const [key, job] of this.#memory) this.#pending.set(key, job);
      this.#arm(flushMs);
    });
  }

  remember(job: Job, options: { durable?: boolean } = {}): void {
    this.#keep(cacheKey(job.kind, job.id, job.groupId), { job, lastUsedAt: this.#sweepClock.latestMs() });
    if (options.durable) this.flush();
  }

  rememberNew(job: Job): void {
    if (!this.#hasOwner(job)) this.remember(job);
  }

  /** The store itself, which answers synchronously. */
  lookUp(): KnownJobs {
    return this;
  }

  find(kind: JobKind, id: string, groupId: string): Job | undefined {
    const key = cacheKey(kind, id, groupId);
    const keptJob =
      this.#memory.get(key) ?? this.#pending.get(key) ?? readable(() => toKept(this.#select.get(kind, groupId, id)));
    if (keptJob === undefined) return undefined;
    const now = this.#sweepClock.latestMs();
    // Written at most once a day, so that polling a video does not write.
    if (now - keptJob.lastUsedAt >= dayMs) this.#keep(key, { job: keptJob.job, lastUsedAt: now });
    else this.#keepInMemory(key, keptJob);
    return keptJob.job;
  }

  findAny(id: string, groupId: string): Job | 'foreign' | undefined {
    const inMemory = jobKinds.find((kind) => this.#isKnown(cacheKey(kind, id, groupId)));
    if (inMemory) return this.find(inMemory, id, groupId);
    const rows = readable(() => this.#selectById.all(id)).flatMap((row) => toKept(row)?.job ?? []);
    const own = rows.find((job) => job.groupId === groupId);
    if (own) return this.find(own.kind, id, groupId);
    return rows.length > 0 || this.#isPending(id) ? 'foreign' : undefined;
  }

  /** Also false if it cannot be read now, because a new object without an owner would be open to all groups. */
  #hasOwner({ id, groupId }: Job): boolean {
    try {
      return this.findAny(id, groupId) !== undefined;
    } catch (error) {
      this.#warn(messageOf(error));
      return false;
    }
  }

  #isKnown(key: string): boolean {
    return this.#memory.has(key) || this.#pending.has(key);
  }

  /** Whether a job with this id is still to be written. It already has an owner. */
  #isPending(id: string): boolean {
    for (const { job } of this.#pending.values()) if (job.id === id) return true;
    return false;
  }

  forget(kind: JobKind, id: string, groupId: string): void {
    const key = cacheKey(kind, id, groupId);
    this.#memory.delete(key);
    this.#pending.delete(key);
    this.#sized.delete(key);
    try {
      this.#remove.run(kind, groupId, id);
    } catch (error) {
      this.#log.warn({ error: messageOf(error) }, 'a job cannot be forgotten');
    }
  }

  owing(): Job[] {
    this.flush();
    const jobs = this.#owing.all().flatMap((row) => toKept(row)?.job ?? []);
    // Settled jobs may not have been written yet.
    return jobs.filter((job) => (this.#memory.get(cacheKey(job.kind, job.id, job.groupId))?.job ?? job).owed);
  }

  settle({ kind, id, groupId }: Pick<Job, 'kind' | 'id' | 'groupId'>): Job | undefined {
    const job = this.#findQuietly(kind, id, groupId);
    if (!job?.owed) return undefined;
    this.flush();
    const { owed: _, ...settled } = job;
    const key = cacheKey(kind, id, groupId);
    const keptJob = { job: settled, lastUsedAt: this.#sweepClock.latestMs() };
    this.#keepInMemory(key, keptJob);
    if (this.#pending.has(key)) this.#pending.set(key, keptJob);
    return job;
  }

  noteSize({ kind, id, groupId }: Pick<Job, 'kind' | 'id' | 'groupId'>, inputTokens: number): void {
    const key = cacheKey(kind, id, groupId);
    const keptJob = this.#memory.get(key) ?? this.#pending.get(key);
    if (keptJob === undefined) return;
    const job = { ...keptJob.job, inputTokens };
    const sized = { ...keptJob, job };
    this.#keepInMemory(key, sized);
    if (this.#pending.has(key)) this.#pending.set(key, sized);
    else this.#sized.set(key, job);
    this.#arm(flushMs);
  }

  /** Undefined if it cannot be read now; the job is then settled later. */
  #findQuietly(kind: JobKind, id: string, groupId: string): Job | undefined {
    try {
      return this.find(kind, id, groupId);
    } catch (error) {
      this.#warn(messageOf(error));
      return undefined;
    }
  }

  readonly flush = (): void => {
    this.#disarm();
    if (this.#pending.size === 0 && this.#sized.size === 0) return;
    try {
      this.#database.transaction(() => {
        for (const keptJob of this.#pending.values()) this.#insert.run(...toValues(keptJob));
        for (const { kind, groupId, id, inputTokens } of this.#sized.values())
          this.#writeSize.run(inputTokens ?? null, kind, groupId, id);
      });
      this.#pending.clear();
      this.#sized.clear();
      this.#lastError = null;
    } catch (error) {
      this.#warn(messageOf(error));
      for (const waiting of [this.#pending, this.#sized]) {
        const tooMany = Math.max(0, waiting.size - maxPending);
        for (const key of [...waiting.keys()].slice(0, tooMany)) waiting.delete(key);
      }
      this.#arm(retryMs);
    }
  };

  async sweep(): Promise<number> {
    this.flush();
    const usedBeforeMs = this.#sweepClock.read().earliestMs - this.#retentionDays() * dayMs;
    for (const [key, keptJob] of this.#memory) if (keptJob.lastUsedAt < usedBeforeMs) this.#memory.delete(key);
    return await this.#sweepBefore(usedBeforeMs);
  }

  async #sweepQuietly(): Promise<void> {
    try {
      await this.sweep();
    } catch (error) {
      this.#log.warn({ error: messageOf(error) }, 'old jobs cannot be forgotten');
    }
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#firstSweep);
    clearInterval(this.#sweeps);
    this.flush();
    this.#disarm();
  }

  #keep(key: string, keptJob: KeptJob): void {
    this.#keepInMemory(key, keptJob);
    this.#sized.delete(key);
    this.#pending.set(key, keptJob);
    this.#arm(flushMs);
  }

  /** Writes are retried each second; a failure is logged once. */
  #warn(error: string): void {
    if (error !== this.#lastError) this.#log.warn({ error, waiting: this.#pending.size }, 'jobs cannot be written');
    this.#lastError = error;
  }

  #keepInMemory(key: string, keptJob: KeptJob): void {
    this.#memory.delete(key);
    this.#memory.set(key, keptJob);
    const [oldest] = this.#memory.keys();
    if (this.#memory.size > maxInMemory && oldest !== undefined) this.#memory.delete(oldest);
  }

  #arm(delayMs: number): void {
    this.#timer ??= after(this.flush, delayMs).unref();
  }

  #disarm(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}

function readable<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!isTemporary(error)) throw error;
    throw new GatewayError(
      'storage_unavailable',
      `Sluice cannot look up the provider of this object: its database cannot be read now (${messageOf(error)}). Try again in a moment.`,
      { cause: error },
    );
  }
}

const rowsPerBatch = 250;

/**
 * Deletes jobs that were not used for a long time. The services also delete theirs.
 *
 * Returns a function that deletes jobs last used before a time, in small batches, until the store is closed.
 */
function prepareJobSweep(database: Database, isClosed: () => boolean): (usedBeforeMs: number) => Promise<number> {
  const deleteBatch = database.prepare(
    `DELETE FROM jobs WHERE (kind, group_id, id) IN
       (SELECT kind, group_id, id FROM jobs WHERE last_used_at < ? LIMIT ${rowsPerBatch})`,
  );
  return async (usedBeforeMs) => {
    let deleted = 0;
    while (!isClosed()) {
      const { changes } = deleteBatch.run(usedBeforeMs);
      deleted += changes;
      if (changes < rowsPerBatch) break;
      await setImmediate();
    }
    return deleted;
  };
}

// Converts jobs to rows of the table `jobs` and back.

/** A job with the time of its last use, which is updated once a day at most. */
export interface KeptJob {
  job: Job;
  /** Unix milliseconds. */
  lastUsedAt: number;
}

const insertJobSql = `INSERT OR REPLACE INTO jobs
  (kind, group_id, id, provider_id, credential_id, model, key_id, created_at, last_used_at, upstream_id,
   owed, input_tokens, session)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/** In the order of `insertJobSql`. */
export const toValues = ({ job, lastUsedAt }: KeptJob): SqlValue[] => [
  job.kind,
  job.groupId,
  job.id,
  job.providerId,
  job.credentialId,
  job.model,
  job.keyId,
  job.createdAt,
  lastUsedAt,
  job.upstreamId ?? null,
  job.owed ? JSON.stringify(job.owed) : null,
  job.inputTokens ?? null,
  job.session ?? null,
];

export function toKept(row: Row | undefined): KeptJob | undefined {
  if (row === undefined) return undefined;
  const upstreamId = text(row.upstream_id);
  const inputTokens = number(row.input_tokens);
  const session = text(row.session);
  const owed = json<Reserved | null>(row.owed, null);
  const job: Job = {
    kind: jobKinds.find((kind) => kind === row.kind) ?? 'response',
    id: text(row.id) ?? '',
    groupId: text(row.group_id) ?? '',
    providerId: text(row.provider_id) ?? '',
    credentialId: text(row.credential_id),
    model: text(row.model),
    keyId: text(row.key_id),
    createdAt: number(row.created_at) ?? 0,
    ...(upstreamId !== null && { upstreamId }),
    ...(inputTokens !== null && { inputTokens }),
    ...(session !== null && { session }),
    ...(owed !== null && { owed }),
  };
  return { job, lastUsedAt: number(row.last_used_at) ?? 0 };
}
