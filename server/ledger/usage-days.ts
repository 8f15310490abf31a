/**
 * Sums of whole days of UTC, made of those by quarter of an hour once a day is over, so that a summary of months reads
 * a hundredth of the rows. How far that has come stands in the table itself: up to its last day of a dimension all days
 * are there. What comes late for one of them (a request that ran over midnight) is added to both tables by the writer.
 */
import { setImmediate } from 'node:timers/promises';
import { type UsageDimension, usageDimensions } from '../contract/ledger.ts';
import type { Database } from '../database/database.ts';
import { sumColumns } from './sums.ts';
import { quartersPerDay } from './usage-cells.ts';

const dayMs = 86_400_000;

export interface UsageDays {
  /** Whether the sums of that day (days since 1970) are in the table, so that what is new has to be added there too. */
  isRolledUp(dimension: UsageDimension, day: number): boolean;
  /** Adds up all days that are over, one at a time with everything else having its turn in between. */
  rollUp(now: number): Promise<void>;
  stop(): void;
}

export function createUsageDays(database: Database): UsageDays {
  // Read when it is first needed: the file may be one that cannot be opened yet, or another by then.
  let lastDays: Map<UsageDimension, number> | null = null;
  database.onReplaced(() => {
    lastDays = null;
  });
  const rolled = () => {
    lastDays ??= new Map(usageDimensions.map((dimension) => [dimension, lastRolledDay(database, dimension)]));
    return lastDays;
  };
  const addDay = database.prepare(
    `INSERT OR REPLACE INTO usage_days (dimension, day, name, ${sumColumns.join(', ')})
     SELECT dimension, ?, name, ${sumColumns.map((column) => `sum(${column})`).join(', ')}
     FROM usage_cells WHERE dimension = ? AND quarter >= ? AND quarter < ? GROUP BY name`,
  );
  const firstFrom = database.prepare(
    'SELECT min(quarter) AS quarter FROM usage_cells WHERE dimension = ? AND quarter >= ?',
  );
  let stopped = false;

  async function rollUpDimension(dimension: UsageDimension, today: number): Promise<void> {
    while (!stopped) {
      const next = (rolled().get(dimension) ?? -1) + 1;
      const quarter = firstFrom.get(dimension, next * quartersPerDay)?.quarter;
      const day = Math.floor(Number(quarter ?? Infinity) / quartersPerDay);
      if (day >= today) return;
      addDay.run(day, dimension, day * quartersPerDay, (day + 1) * quartersPerDay);
      rolled().set(dimension, day);
      await setImmediate();
    }
  }

  return {
    isRolledUp: (dimension, day) => day <= (rolled().get(dimension) ?? -1),
    async rollUp(now) {
      for (const dimension of usageDimensions) await rollUpDimension(dimension, Math.floor(now / dayMs));
    },
    stop() {
      stopped = true;
    },
  };
}

/** -1 if there is none. */
export function lastRolledDay(database: Database, dimension: UsageDimension): number {
  const row = database.prepare('SELECT max(day) AS day FROM usage_days WHERE dimension = ?').get(dimension);
  return Number(row?.day ?? -1);
}
