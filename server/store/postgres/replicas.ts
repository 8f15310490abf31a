/**
 * Tracks which replicas are alive. Requests of those that are gone count as interrupted, with the amounts reserved for
 * them.
 */
import { toLedgerRow } from '../rules/rows.ts';
import { storableRow } from '../rules/storable-row.ts';
import { SessionUses, UsageSums } from '../sqlite/derived-rows.ts';
import { addSums, writeSessions } from './ledger-writer.ts';
import { columnsOf, type Postgres, type Queries, repeat, unnest } from './postgres.ts';

interface Options {
  postgres: Postgres;
  /** A UUID of this run of this replica. */
  replica: string;
  /** The part of the sums that this replica writes. */
  part: number;
  log: { warn(fields: object, message: string): void };
  /** A monotonic clock, in milliseconds. */
  steadyMs?: () => number;
}

const beatEveryMs = 5_000;
/** A replica that has not been seen for this long is gone. */
const expiryMs = 60_000;
/** An arbitrary number that no other program uses in the same database. */
const interruptionLock = 4_810_003;
const rowsPerBatch = 1_000;

const beatSql = `INSERT INTO replicas (id) VALUES ($1) ON CONFLICT (id) DO UPDATE SET seen_at = now()`;
const isAlive = `seen_at > now() - interval '${expiryMs} milliseconds'`;
const interruptSql = `UPDATE requests SET outcome = 'interrupted'
  FROM (
    SELECT day, id FROM requests WHERE outcome IS NULL
      AND NOT EXISTS (SELECT 1 FROM replicas WHERE replicas.id = requests.replica AND ${isAlive})
    LIMIT ${rowsPerBatch}
  ) AS left_behind
  WHERE requests.day = left_behind.day AND requests.id = left_behind.id AND requests.outcome IS NULL RETURNING requests.*`;
const namesSql = `INSERT INTO request_names (dimension, name, day)
  SELECT 'outcome', 'interrupted', day FROM ${unnest({ day: 'integer' })} ON CONFLICT DO NOTHING`;

export class Replicas {
  readonly #options: Options;
  readonly #steadyMs: () => number;
  #beats: NodeJS.Timeout | null = null;
  /** Time of the first beat in the current uninterrupted series; null if there is none. */
  #steadySince: number | null = null;
  #lastBeat = Number.NEGATIVE_INFINITY;

  constructor(options: Options) {
    this.#options = options;
    this.#steadyMs = options.steadyMs ?? (() => performance.now());
  }

  /** Must precede the first request. Rejects with PostgreSQL's error. */
  async start(): Promise<void> {
    await this.beat();
    this.#beats = repeat({
      everyMs: beatEveryMs,
      work: () => this.#live(),
      log: this.#options.log,
      failed: 'the database cannot be told that this replica is alive',
    });
  }

  async beat(): Promise<void> {
    await this.#options.postgres.ask(beatSql, this.#options.replica);
    const nowMs = this.#steadyMs();
    // While the database was unavailable, other replicas could not be seen either.
    if (nowMs - this.#lastBeat > expiryMs / 2) this.#steadySince = nowMs;
    this.#lastBeat = nowMs;
  }

  /** Marks the running requests of replicas that are gone as interrupted. Resolves with the number of requests. */
  async markInterrupted(): Promise<number> {
    const nowMs = this.#steadyMs();
    if (this.#steadySince === null || nowMs - this.#lastBeat > expiryMs / 2 || nowMs - this.#steadySince < expiryMs)
      return 0;
    let marked = 0;
    for (let count = rowsPerBatch; count === rowsPerBatch; marked += count) {
      count = await this.#options.postgres.transaction((queries) => this.#markSome(queries));
    }
    if (marked > 0)
      this.#options.log.warn({ interrupted: marked }, 'requests of a replica that is gone were interrupted');
    return marked;
  }

  /** Must be called once everything is written. */
  async close(): Promise<void> {
    if (this.#beats !== null) clearInterval(this.#beats);
    const { postgres, replica } = this.#options;
    // If that fails, the replica counts as gone after a minute.
    await postgres.ask('DELETE FROM replicas WHERE id = $1', replica).catch(() => {});
  }

  async #markSome(queries: Queries): Promise<number> {
    await queries.ask('SELECT pg_advisory_xact_lock($1)', interruptionLock);
    const { rows } = await queries.ask(interruptSql);
    if (rows.length === 0) {
      await queries.ask(`DELETE FROM replicas WHERE NOT (${isAlive})`);
      return 0;
    }
    const sums = new UsageSums();
    const sessions = new SessionUses();
    for (const row of rows.map(toLedgerRow)) {
      const endedRow = storableRow({ ...row, outcome: 'interrupted', totalMs: row.totalMs ?? 0 } as const);
      sums.add(endedRow);
      sessions.add(row.seq, endedRow);
    }
    const days = [...new Set(rows.map(({ day }) => Number(day)))].sort((one, other) => one - other);
    await queries.ask(namesSql, ...columnsOf(days.map((day) => [day])));
    await writeSessions(queries, sessions);
    await addSums(queries, sums, this.#options.part);
    return rows.length;
  }

  async #live(): Promise<void> {
    await this.beat();
    await this.markInterrupted();
  }
}
