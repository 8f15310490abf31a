/**
 * The amounts spent of each budget in its current period, in a separate small file, so that a damaged or removed ledger does
 * not reset budgets. Like the ledger, it is written within 100 ms; readers take the larger total of the two files, so a
 * crash between the two writes counts nothing twice.
 *
 * Each total is stored with its period, so that setting the clock back has the same effect with and without a restart.
 */
import type { Budget } from '../../contract/limit-settings.ts';
import type { LimitScope } from '../../contract/limits.ts';
import { number, type Row } from '../rules/columns.ts';
import { DelayedWrite } from '../rules/delayed-write.ts';
import type { Database } from './database.ts';
import type { Spent } from './usage-history.ts';

/** The period in Unix milliseconds; infinite at both ends for a `total` budget. */
export interface BudgetSum {
  startMs: number;
  endMs: number;
  spent: Spent;
}

/** Identifies a total: a key or group, and a kind of period. */
interface BudgetOwner {
  scope: LimitScope;
  id: string;
  per: Budget['per'];
  /** Unix milliseconds; totals of an earlier key with the same id do not count. */
  sinceMs: number;
}

export interface BudgetSums {
  /** Null if there is none. Throws if the file cannot be read now. */
  find(owner: BudgetOwner): BudgetSum | null;
  /** Stores a total in memory; written within 100 ms. */
  keep(owner: BudgetOwner, sum: BudgetSum): void;
  /** Throws if the file cannot be written now. */
  forget(scope: LimitScope, id: string): void;
  /** True also if the file cannot be read. */
  readonly isEmpty: boolean;
  /** Why the file cannot be written; null if it can. */
  readonly problem: string | null;
  flush(): void;
  close(): void;
}

interface BudgetSumsOptions {
  database: Database;
  log: { warn(fields: object, message: string): void };
  flushMs: number;
}

const nameOf = ({ scope, id, per }: Omit<BudgetOwner, 'sinceMs'>) => `${per} ${scope} ${id}`;

export function createBudgetSums(options: BudgetSumsOptions): BudgetSums {
  return new SqliteBudgetSums(options);
}

class SqliteBudgetSums implements BudgetSums {
  readonly #options: BudgetSumsOptions;
  /** All totals of this run; a replacement file needs all of them. */
  readonly #entries = new Map<string, { owner: BudgetOwner; sum: BudgetSum }>();
  readonly #unwritten = new Set<string>();
  readonly #writing: DelayedWrite;

  constructor(options: BudgetSumsOptions) {
    const { database, log, flushMs } = options;
    this.#options = options;
    this.#writing = new DelayedWrite({
      write: () => this.#write(),
      failed: (error) => log.warn({ error }, 'the sums of budgets cannot be written'),
      delayMs: flushMs,
    });
    database.onReplaced(() => {
      for (const name of this.#entries.keys()) this.#unwritten.add(name);
      this.#writing.due();
    });
  }

  get problem(): string | null {
    return this.#writing.problem;
  }

  get isEmpty(): boolean {
    if (this.#entries.size > 0) return false;
    try {
      return this.#options.database.prepare('SELECT 1 FROM budget_sums LIMIT 1').get() === undefined;
    } catch {
      return true;
    }
  }

  find(owner: BudgetOwner): BudgetSum | null {
    const entry = this.#entries.get(nameOf(owner));
    if (entry) return entry.owner.sinceMs === owner.sinceMs ? entry.sum : null;
    const { scope, id, per, sinceMs } = owner;
    const select = 'SELECT * FROM budget_sums WHERE scope = ? AND id = ? AND per = ? AND since_ms = ?';
    const row = this.#options.database.prepare(select).get(scope, id, per, sinceMs);
    return row ? toSum(row) : null;
  }

  keep(owner: BudgetOwner, sum: BudgetSum): void {
    const name = nameOf(owner);
    this.#entries.set(name, { owner, sum });
    this.#unwritten.add(name);
    this.#writing.due();
  }

  /** A bound function, since it is passed as a callback. */
  readonly forget = (scope: LimitScope, id: string): void => {
    for (const per of ['day', 'week', 'month', 'total'] as const) {
      const name = nameOf({ scope, id, per });
      this.#entries.delete(name);
      this.#unwritten.delete(name);
    }
    this.#options.database.prepare('DELETE FROM budget_sums WHERE scope = ? AND id = ?').run(scope, id);
  };

  flush(): void {
    this.#writing.flush();
  }

  close(): void {
    this.#writing.close();
  }

  #write(): void {
    const { database } = this.#options;
    const upsert = database.prepare('INSERT OR REPLACE INTO budget_sums VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)');
    database.transaction(() => {
      for (const name of this.#unwritten) {
        const entry = this.#entries.get(name);
        if (!entry) continue;
        const { scope, id, per, sinceMs } = entry.owner;
        const { startMs, endMs, spent } = entry.sum;
        upsert.run(scope, id, per, sinceMs, startMs, endMs, spent.usd, spent.tokens, spent.unpriced);
      }
    });
    this.#unwritten.clear();
  }
}

function toSum(row: Row): BudgetSum {
  return {
    startMs: number(row.start_ms) ?? 0,
    endMs: number(row.end_ms) ?? 0,
    spent: { usd: number(row.usd) ?? 0, tokens: number(row.tokens) ?? 0, unpriced: number(row.unpriced) ?? 0 },
  };
}
