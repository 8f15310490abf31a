import type { SqlValue } from '../rules/columns.ts';

/** Converts rows to parameters of `unnest`, one list per column. All rows must have the same number of values. */
export function columnsOf(rows: readonly (readonly SqlValue[])[]): SqlValue[][] {
  const [first = []] = rows;
  return first.map((_, column) => rows.map((row) => row[column] ?? null));
}

/** `unnest($1::text[], $2::bigint[]) AS given (kind, bytes)` */
export function unnest(columns: Readonly<Record<string, string>>): string {
  const lists = Object.values(columns).map((type, index) => `$${index + 1}::${type}[]`);
  return `unnest(${lists.join(', ')}) AS given (${Object.keys(columns).join(', ')})`;
}

/** `a = excluded.a, b = excluded.b` */
export function replaced(columns: readonly string[]): string {
  return columns.map((column) => `${column} = excluded.${column}`).join(', ');
}

/** Removes the entries that were written, except those that have changed since. */
export function removeWritten<T>(waiting: Map<string, T>, written: ReadonlyMap<string, T>): void {
  for (const [name, each] of written) if (waiting.get(name) === each) waiting.delete(name);
}

/** A fixed order, so that replicas do not deadlock. */
export function byText(one: readonly unknown[], other: readonly unknown[]): number {
  return one.join('\n') < other.join('\n') ? -1 : 1;
}
