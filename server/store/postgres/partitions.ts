/** Partitions by day. A new one is attached, which holds up neither readers nor writers of the others. */
import type { Postgres } from './postgres.ts';

const dayMs = 86_400_000;
/** Any number that no other program uses in the same database. */
const partitionLock = 4_810_002;
/** Clocks that are wrong by more must not make partitions of their own. */
const defaultDaysBack = 7;

/** Days since 1970, in UTC; of a time far from now the nearest day that is not. */
export function partitionDay(timeMs: number, nowMs: number, mostDaysBack = defaultDaysBack): number {
  const today = Math.floor(nowMs / dayMs);
  return Math.min(Math.max(Math.floor(timeMs / dayMs), today - mostDaysBack), today + 1);
}

/** `requests_2026_11_23` */
export function partitionOf(table: string, day: number): string {
  return `${table}_${new Date(day * dayMs).toISOString().slice(0, 10).replaceAll('-', '_')}`;
}

/** The day of a partition with such a name; null if it is none. */
export function partitionDayIn(name: string): number | null {
  const [, year, month, day] = /_(\d{4})_(\d{2})_(\d{2})$/.exec(name) ?? [];
  return day === undefined ? null : Date.UTC(Number(year), Number(month) - 1, Number(day)) / dayMs;
}

export class Partitions {
  readonly #postgres: Postgres;
  readonly #table: string;
  /** Days that have one. Partitions are dropped only when they are old. */
  readonly #known = new Set<number>();

  constructor(postgres: Postgres, table: string) {
    this.#postgres = postgres;
    this.#table = table;
  }

  /** After a failure: the database may be another by now, such as one from a backup. */
  forget(): void {
    this.#known.clear();
  }

  /** Makes those that are missing. */
  async ensure(days: Iterable<number>): Promise<void> {
    for (const day of new Set(days)) {
      if (this.#known.has(day)) continue;
      await this.#make(day);
      this.#known.add(day);
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
