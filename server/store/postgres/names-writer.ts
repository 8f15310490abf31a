/** Records which keys, models, clients and other names occur on which days. */
import type { NameDimension } from '../../ledger/request-names.ts';
import { isFinished } from '../../ledger/writer.ts';
import { columnsOf, unnest } from './columns.ts';
import type { Queries } from './postgres.ts';
import type { PlacedRow } from './request-rows.ts';

const insertSql = `INSERT INTO request_names (dimension, name, day)
  SELECT * FROM ${unnest({ dimension: 'text', name: 'text', day: 'integer' })} ON CONFLICT DO NOTHING`;

/** Beyond this many combinations of name, day and dimension, names may be written again, which has no effect. */
const mostKnown = 50_000;

type Named = [dimension: NameDimension, name: string | number | null | undefined];

export class NamesWriter {
  /** What this replica has already recorded. */
  #known = new Set<string>();

  /** Returns a function to call once the transaction is committed. */
  async add(queries: Queries, rows: readonly PlacedRow[]): Promise<() => void> {
    const found = new Map<string, [string, string, number]>();
    for (const { row, day } of rows) {
      for (const [dimension, name] of namesIn(row)) {
        if (name === null || name === undefined) continue;
        const place = `${dimension} ${day} ${name}`;
        if (!this.#known.has(place)) found.set(place, [dimension, String(name), day]);
      }
    }
    // Sorted the same way everywhere, so that replicas do not deadlock.
    const sorted = [...found].sort(([one], [other]) => (one < other ? -1 : 1));
    if (sorted.length > 0) await queries.ask(insertSql, ...columnsOf(sorted.map(([, values]) => values)));
    return () => this.#remember(found.keys());
  }

  #remember(places: Iterable<string>): void {
    if (this.#known.size > mostKnown) this.#known = new Set();
    for (const place of places) this.#known.add(place);
  }
}

function namesIn(row: PlacedRow['row']): Named[] {
  const begun: Named[] = [
    ['key', row.keyId],
    ['group', row.groupId],
    ['model', row.modelAsked],
    ['capability', row.capability],
  ];
  if (!isFinished(row)) return begun;
  return [
    ...begun,
    ['model', row.modelServed],
    ['provider', row.provider],
    ['client', row.client],
    ['status', row.status],
    ['outcome', row.outcome],
    ['error', row.errorCode],
  ];
}
