/**
 * Totals of whole days in UTC, computed from the quarters once a day is over, so that a summary of months reads a hundredth
 * of the rows. All days up to a dimension's last one in the table are complete; requests that end later (after midnight) are
 * added to both tables by the writer.
 */

import { setImmediate } from 'node:timers/promises';
import { type UsageDimension, usageDimensions } from '../../contract/ledger.ts';
import { dayMs } from '../../contract/units.ts';
import { sumColumns } from '../rules/sums.ts';
import type { Database } from './database.ts';
import { quartersPerDay } from './usage-cells.ts';

export interface UsageDays {
  /** Whether that day (counted from 1970) is in the table, so that new totals must be added there too. */
  isRolledUp(dimension: UsageDimension, day: number): boolean;
  /** Rolls up all past days, yielding to the event loop after each. */
  rollUp(now: number): Promise<void>;
  stop(): void;
}

export function createUsageDays(database: Database): UsageDays {
  // Read lazily, since the file may not be readable yet, or may be replaced.
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
  let isStopped = false;

  async function rollUpDimension(dimension: UsageDimension, today: number): Promise<void> {
    while (!isStopped) {
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
      isStopped = true;
    },
  };
}

/** -1 if there is none. */
export function lastRolledDay(database: Database, dimension: UsageDimension): number {
  const row = database.prepare('SELECT max(day) AS day FROM usage_days WHERE dimension = ?').get(dimension);
  return Number(row?.day ?? -1);
}
