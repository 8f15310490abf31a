/** Records which keys, models, clients and other names occur on which days. */
import { type NameDimension, nameDimensions } from '../../ledger/request-names.ts';
import { isFinished } from '../../ledger/writer.ts';
import { columnsOf, unnest } from './columns.ts';
import type { Queries } from './postgres.ts';
import type { PlacedRow } from './request-rows.ts';

/** Sorted the same way everywhere, so that replicas do not deadlock. */
const insertSql = `INSERT INTO request_names (dimension, name, day)
  SELECT * FROM ${unnest({ dimension: 'text', name: 'text', day: 'integer' })}
  ORDER BY dimension COLLATE "C", day, name COLLATE "C" ON CONFLICT DO NOTHING`;

/**
 * Beyond this many names per dimension and day, names may be written again, which has no effect. The same holds for
 * names of days other than the most recent ones.
 */
const mostKnown = 150_000;
const mostDays = 3;

type Name = string | number | null | undefined;
type Known = Record<NameDimension, Set<Name>>;

/** Allocates nothing for names that are already known. */
export class NamesWriter {
  /** What this replica has recorded, by day. */
  readonly #known = new Map<number, Known>();
  #found: [NameDimension, string, number][] = [];

  /** After a failure, nothing of the batch is recorded, and the database may have been replaced. */
  forget(): void {
    this.#known.clear();
  }

  async add(queries: Queries, rows: readonly PlacedRow[]): Promise<void> {
    this.#found = [];
    for (const { row, day } of rows) this.#addRow(row, day);
    if (this.#found.length > 0) await queries.ask(insertSql, ...columnsOf(this.#found));
  }

  #addRow(row: PlacedRow['row'], day: number): void {
    this.#note('key', row.keyId, day);
    this.#note('group', row.groupId, day);
    this.#note('model', row.modelAsked, day);
    this.#note('capability', row.capability, day);
    if (!isFinished(row)) return;
    this.#note('model', row.modelServed, day);
    this.#note('provider', row.provider, day);
    this.#note('client', row.client, day);
    this.#note('status', row.status, day);
    this.#note('outcome', row.outcome, day);
    this.#note('error', row.errorCode, day);
  }

  #note(dimension: NameDimension, name: Name, day: number): void {
    if (name === null || name === undefined) return;
    const known = this.#knownOf(day)[dimension];
    if (known.has(name)) return;
    if (known.size >= mostKnown) known.clear();
    known.add(name);
    this.#found.push([dimension, String(name), day]);
  }

  #knownOf(day: number): Known {
    let known = this.#known.get(day);
    if (known === undefined) {
      known = Object.fromEntries(nameDimensions.map((dimension) => [dimension, new Set()])) as Known;
      this.#known.set(day, known);
      const [oldest] = this.#known.keys();
      if (this.#known.size > mostDays && oldest !== undefined) this.#known.delete(oldest);
    }
    return known;
  }
}
