/** Partitions by day. Attaching a new one does not block readers or writers of the others. */
import { dayMs } from '../../contract/units.ts';
import type { Postgres } from './postgres.ts';

/** An arbitrary number that no other program uses in the same database. */
const partitionLock = 4_810_002;
/** A clock that is further off than this must not create partitions for its days. */
const defaultDaysBack = 7;

/** In days since 1970 (UTC). A time too far from now is moved to the nearest allowed day. */
export function partitionDay(timeMs: number, nowMs: number, mostDaysBack = defaultDaysBack): number {
  const today = Math.floor(nowMs / dayMs);
  return Math.min(Math.max(Math.floor(timeMs / dayMs), today - mostDaysBack), today + 1);
}

/** Under this dimension of `request_names` are the days that hold requests of other days, which were moved there. */
export const movedDimension = 'moved';
export const movedDaysSql = `SELECT day FROM request_names WHERE dimension = '${movedDimension}'`;

/** A condition on the days of requests, which also holds for days with requests that were moved there. */
export const orMoved = (condition: string) => `(${condition} OR day = ANY(ARRAY(${movedDaysSql})))`;

/** `requests_2026_11_23` */
function partitionOf(table: string, day: number): string {
  return `${table}_${new Date(day * dayMs).toISOString().slice(0, 10).replaceAll('-', '_')}`;
}

/** The day of the partition with this name; null if the name does not end in a day. */
export function partitionDayIn(name: string): number | null {
  const [, year, month, day] = /_(\d{4})_(\d{2})_(\d{2})$/.exec(name) ?? [];
  return day === undefined ? null : Date.UTC(Number(year), Number(month) - 1, Number(day)) / dayMs;
}

export class Partitions {
  readonly #postgres: Postgres;
  readonly #table: string;
  /** Days whose partition exists. Only old partitions are dropped. */
  readonly #existing = new Set<number>();

  constructor(postgres: Postgres, table: string) {
    this.#postgres = postgres;
    this.#table = table;
  }

  /** Called after a failure, because the database may have been replaced, for example by a backup. */
  forget(): void {
    this.#existing.clear();
  }

  /** Creates the missing partitions. */
  async ensure(days: Iterable<number>): Promise<void> {
    for (const day of new Set(days)) {
      if (this.#existing.has(day)) continue;
      await this.#make(day);
      this.#existing.add(day);
    }
  }

  async #make(day: number): Promise<void> {
    const name = partitionOf(this.#table, day);
    await this.#postgres.transaction(async (queries) => {
      await queries.ask('SELECT pg_advisory_xact_lock($1)', partitionLock);
      const { rows } = await queries.ask('SELECT to_regclass($1)::text AS found', name);
      if (rows[0]?.found !== null) return;
      await queries.script(`CREATE TABLE ${name} (LIKE ${this.#table} INCLUDING DEFAULTS);
        ALTER TABLE ${this.#table} ATTACH PARTITION ${name} FOR VALUES FROM (${day}) TO (${day + 1})`);
    });
  }
}
