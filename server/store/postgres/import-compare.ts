/** Checks that an import is complete by computing the same sums in SQLite and in PostgreSQL. */
import { number } from '../rules/columns.ts';
import type { Database } from '../sqlite/database.ts';
import { columnsOf, unnest } from './columns.ts';
import { importedPart } from './import-tables.ts';
import type { Postgres } from './postgres.ts';
import type { PlacedRow } from './request-rows.ts';

export interface Compared {
  what: string;
  /** In the data folder. */
  before: number;
  /** In the database. */
  after: number;
  isSame: boolean;
}

const arrivedSql = `SELECT count(*) AS requests, coalesce(sum(cost_usd), 0) AS cost_usd
  FROM ${unnest({ day: 'integer', id: 'text' })} JOIN requests USING (day, id)`;

/** Reads back the copied requests. */
export class RequestTally {
  #before = { requests: 0, costUsd: 0 };
  #after = { requests: 0, costUsd: 0 };

  async add(postgres: Postgres, placedRows: readonly PlacedRow[]): Promise<void> {
    const { rows } = await postgres.ask(arrivedSql, ...columnsOf(placedRows.map(({ row, day }) => [day, row.id])));
    this.#after = {
      requests: this.#after.requests + (number(rows[0]?.requests) ?? 0),
      costUsd: this.#after.costUsd + (number(rows[0]?.cost_usd) ?? 0),
    };
    for (const { row } of placedRows) {
      this.#before.requests += 1;
      if ('costUsd' in row) this.#before.costUsd += row.costUsd ?? 0;
    }
  }

  get compared(): Compared[] {
    return [
      compare('requests', this.#before.requests, this.#after.requests),
      compare('cost of requests (USD)', this.#before.costUsd, this.#after.costUsd),
    ];
  }
}

interface Question {
  what: string;
  from: 'ledger' | 'responses';
  sqlite: string;
  postgres: string;
}

const tokens = 'coalesce(sum(input_tokens + output_tokens), 0)';
const ofPart = `WHERE part = ${importedPart}`;
const sumQuestions = (unit: string, sql: string): Question[] => [
  question(
    `${unit} by quarter of an hour`,
    `SELECT ${sql} AS sum FROM usage_cells`,
    `SELECT ${sql} AS sum FROM usage_quarters ${ofPart}`,
  ),
  question(`${unit} by day`, `SELECT ${sql} AS sum FROM usage_cells`, `SELECT ${sql} AS sum FROM usage_days ${ofPart}`),
];
const questions: readonly Question[] = [
  ...sumQuestions('requests', 'coalesce(sum(requests), 0)'),
  ...sumQuestions('tokens', tokens),
  ...sumQuestions('cost (USD)', 'coalesce(sum(cost_usd), 0)'),
  question(
    'tokens in total',
    'SELECT coalesce(sum(tokens), 0) AS sum FROM usage_totals',
    `SELECT coalesce(sum(tokens), 0) AS sum FROM usage_totals ${ofPart}`,
  ),
  question('jobs', 'SELECT count(*) AS sum FROM jobs', 'SELECT count(*) AS sum FROM jobs'),
  {
    ...question(
      'stored responses',
      'SELECT count(*) AS sum FROM kept_responses',
      'SELECT count(*) AS sum FROM kept_responses',
    ),
    from: 'responses',
  },
  question('captures', 'SELECT count(DISTINCT id) AS sum FROM captures', 'SELECT count(*) AS sum FROM captures'),
];

function question(subject: string, sqlite: string, postgres: string): Question {
  return { what: subject, from: 'ledger', sqlite, postgres };
}

export async function compareSums(
  postgres: Postgres,
  files: Readonly<Record<Question['from'], Database>>,
  tally: RequestTally,
): Promise<Compared[]> {
  const compared = [...tally.compared];
  for (const { what: subject, from, sqlite, postgres: sql } of questions) {
    const { rows } = await postgres.ask(sql);
    compared.push(compare(subject, number(files[from].prepare(sqlite).get()?.sum) ?? 0, number(rows[0]?.sum) ?? 0));
  }
  return compared;
}

/** Floating-point sums differ slightly because the values are added in another order. */
function compare(subject: string, before: number, after: number): Compared {
  return { what: subject, before, after, isSame: Math.abs(before - after) <= 1e-9 * Math.max(1, Math.abs(before)) };
}
