/** Reads columns. Only Sluice writes them, so a value has its expected type or is null. */
export type SqlValue = string | number | null | Uint8Array;
export type Row = Record<string, SqlValue>;

type Column = SqlValue | undefined;

export const text = (value: Column): string | null => (typeof value === 'string' ? value : null);
export const number = (value: Column): number | null => (typeof value === 'number' ? value : null);
export const bytes = (value: Column): Uint8Array | null => (value instanceof Uint8Array ? value : null);

/** The value of a JSON column. */
export const json = <T>(value: Column, otherwise: T): T =>
  typeof value === 'string' ? (JSON.parse(value) as T) : otherwise;
