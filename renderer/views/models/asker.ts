/** Who would send the request: a key, or any key of a group. */
export type Asker = { type: 'key' | 'group'; id: string };

/** As a query takes it. */
export function askedAs({ type, id }: Asker): { key: string } | { group: string } {
  return type === 'key' ? { key: id } : { group: id };
}
