/**
 * Which provider and credential own a video or a stored response, so that later calls about it reach the same account:
 * after a restart, a rotated credential (same id, new secret) or a renamed group (ids stay, names are labels). A job is
 * found for the group that made it and for no other. It must not know how a job is called upstream.
 *
 * A lookup that is not in memory is one synchronous point read of SQLite, some 20 µs: accepted on these rare routes.
 */
import type { Database, Row, SqlValue, Statement } from '../database.ts';

export type JobKind = 'video' | 'response';

export interface Job {
  kind: JobKind;
  /** The provider's id of it, as the client knows it. */
  id: string;
  groupId: string;
  providerId: string;
  /** Null for a provider that asks for no key. */
  credentialId: string | null;
  model: string | null;
  keyId: string | null;
  /** Unix milliseconds. */
  createdAt: number;
}

export interface JobStore {
  /** Known at once; on disk at once too if `durable`, else at most 100 ms later. Never throws. */
  remember(job: Job, options?: { durable?: boolean }): void;
  find(kind: JobKind, id: string, groupId: string): Job | undefined;
  /** By time of making. `after` is the id of the last job of the page before; an unknown one gives an empty page. */
  list(kind: JobKind, groupId: string, page: JobPage): { jobs: Job[]; hasMore: boolean };
  forget(kind: JobKind, id: string, groupId: string): void;
  flush(): void;
  close(): void;
}

export interface JobPage {
  limit: number;
  after?: string;
  order: 'asc' | 'desc';
}

export interface JobStoreOptions {
  database: Database;
  log: { warn(fields: object, message: string): void };
}

const maxInMemory = 4_096;
const flushMs = 50;
const retryMs = 1_000;
/** Jobs that may wait while writing fails; beyond, the oldest are dropped from the disk's part, not from memory. */
const maxPending = 10_000;

const cacheKey = (kind: JobKind, id: string, groupId: string) => `${kind}\n${groupId}\n${id}`;

export function createJobStore(options: JobStoreOptions): JobStore {
  return new SqliteJobStore(options);
}

class SqliteJobStore implements JobStore {
  readonly #database: Database;
  readonly #log: JobStoreOptions['log'];
  readonly #insert: Statement;
  readonly #select: Statement;
  readonly #remove: Statement;
  /** A Map keeps the order of insertion: what was used last is put at its end, the first is the next to go. */
  readonly #memory = new Map<string, Job>();
  readonly #pending = new Map<string, Job>();
  #timer: NodeJS.Timeout | null = null;

  constructor({ database, log }: JobStoreOptions) {
    this.#database = database;
    this.#log = log;
    this.#insert = database.prepare(
      `INSERT OR REPLACE INTO jobs (kind, group_id, id, provider_id, credential_id, model, key_id, created_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#select = database.prepare('SELECT * FROM jobs WHERE kind = ? AND group_id = ? AND id = ?');
    this.#remove = database.prepare('DELETE FROM jobs WHERE kind = ? AND group_id = ? AND id = ?');
  }

  remember(job: Job, options: { durable?: boolean } = {}): void {
    const key = cacheKey(job.kind, job.id, job.groupId);
    this.#keepInMemory(key, job);
    this.#pending.set(key, job);
    if (options.durable) this.flush();
    else this.#arm(flushMs);
  }

  find(kind: JobKind, id: string, groupId: string): Job | undefined {
    const key = cacheKey(kind, id, groupId);
    const job = this.#memory.get(key) ?? this.#pending.get(key) ?? toJob(this.#select.get(kind, groupId, id));
    if (job !== undefined) this.#keepInMemory(key, job);
    return job;
  }

  list(kind: JobKind, groupId: string, page: JobPage): { jobs: Job[]; hasMore: boolean } {
    this.flush();
    const jobs = selectPage(this.#database, kind, groupId, page);
    return { jobs: jobs.slice(0, page.limit), hasMore: jobs.length > page.limit };
  }

  forget(kind: JobKind, id: string, groupId: string): void {
    const key = cacheKey(kind, id, groupId);
    this.#memory.delete(key);
    this.#pending.delete(key);
    try {
      this.#remove.run(kind, groupId, id);
    } catch (error) {
      this.#log.warn({ error: messageOf(error) }, 'a job cannot be forgotten');
    }
  }

  readonly flush = (): void => {
    this.#disarm();
    if (this.#pending.size === 0) return;
    try {
      this.#database.transaction(() => {
        for (const job of this.#pending.values()) this.#insert.run(...toValues(job));
      });
      this.#pending.clear();
    } catch (error) {
      this.#log.warn({ error: messageOf(error) }, 'jobs cannot be written');
      const tooMany = Math.max(0, this.#pending.size - maxPending);
      for (const key of [...this.#pending.keys()].slice(0, tooMany)) this.#pending.delete(key);
      this.#arm(retryMs);
    }
  };

  close(): void {
    this.flush();
    this.#disarm();
  }

  #keepInMemory(key: string, job: Job): void {
    this.#memory.delete(key);
    this.#memory.set(key, job);
    const [oldest] = this.#memory.keys();
    if (this.#memory.size > maxInMemory && oldest !== undefined) this.#memory.delete(oldest);
  }

  #arm(delayMs: number): void {
    this.#timer ??= setTimeout(this.flush, delayMs).unref();
  }

  #disarm(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** One job more than asked for, if there is one. */
function selectPage(database: Database, kind: JobKind, groupId: string, page: JobPage): Job[] {
  const direction = page.order === 'asc' ? 'ASC' : 'DESC';
  const beyond = page.order === 'asc' ? '>' : '<';
  const cursor = 'SELECT created_at, id FROM jobs WHERE kind = ? AND group_id = ? AND id = ?';
  const condition = page.after === undefined ? '' : `AND (created_at, id) ${beyond} (${cursor})`;
  const values: SqlValue[] = page.after === undefined ? [] : [kind, groupId, page.after];
  const rows = database
    .prepare(
      `SELECT * FROM jobs WHERE kind = ? AND group_id = ? ${condition}
       ORDER BY created_at ${direction}, id ${direction} LIMIT ?`,
    )
    .all(kind, groupId, ...values, page.limit + 1);
  return rows.map(toJob).filter((job) => job !== undefined);
}

const toValues = (job: Job): SqlValue[] => [
  job.kind,
  job.groupId,
  job.id,
  job.providerId,
  job.credentialId,
  job.model,
  job.keyId,
  job.createdAt,
];

function toJob(row: Row | undefined): Job | undefined {
  if (row === undefined) return undefined;
  const optional = (value: SqlValue | undefined) => (typeof value === 'string' ? value : null);
  return {
    kind: row.kind === 'video' ? 'video' : 'response',
    id: String(row.id),
    groupId: String(row.group_id),
    providerId: String(row.provider_id),
    credentialId: optional(row.credential_id),
    model: optional(row.model),
    keyId: optional(row.key_id),
    createdAt: Number(row.created_at),
  };
}
