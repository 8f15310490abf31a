/** Records which keys, models, clients and other names occur on which days. */
import { dayMs } from '../../contract/units.ts';
import { type NameDimension, nameDimensions } from '../rules/request-conditions.ts';
import { isFinished } from '../sqlite/writer.ts';
import { columnsOf, unnest } from './columns.ts';
import { movedDimension } from './partitions.ts';
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
type Dimension = NameDimension | typeof movedDimension;
type Known = Record<Dimension, Set<Name>>;

/** Allocates nothing for names that are already known. */
export class NamesWriter {
  /** What this replica has recorded, by day. */
  readonly #namesByDay = new Map<number, Known>();
  #newNames: [Dimension, string, number][] = [];

  /** After a failure, nothing of the batch is recorded, and the database may have been replaced. */
  forget(): void {
    this.#namesByDay.clear();
  }

  async add(queries: Queries, rows: readonly PlacedRow[]): Promise<void> {
    this.#newNames = [];
    for (const { row, day } of rows) this.#addRow(row, day);
    if (this.#newNames.length > 0) await queries.ask(insertSql, ...columnsOf(this.#newNames));
  }

  #addRow(row: PlacedRow['row'], day: number): void {
    if (Math.floor(row.startedAt / dayMs) !== day) this.#note(movedDimension, '', day);
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

  #note(dimension: Dimension, name: Name, day: number): void {
    if (name === null || name === undefined) return;
    const recorded = this.#namesOf(day)[dimension];
    if (recorded.has(name)) return;
    if (recorded.size >= mostKnown) recorded.clear();
    recorded.add(name);
    this.#newNames.push([dimension, String(name), day]);
  }

  #namesOf(day: number): Known {
    let names = this.#namesByDay.get(day);
    if (names === undefined) {
      names = Object.fromEntries(
        [...nameDimensions, movedDimension].map((dimension) => [dimension, new Set()]),
      ) as Known;
      this.#namesByDay.set(day, names);
      const [oldest] = this.#namesByDay.keys();
      if (this.#namesByDay.size > mostDays && oldest !== undefined) this.#namesByDay.delete(oldest);
    }
    return names;
  }
}
