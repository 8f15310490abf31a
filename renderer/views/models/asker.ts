/** The sender of the request: a key, or any key of a group. */
export type Asker = { type: 'key' | 'group'; id: string };

/** In the form that a query expects. */
export function askedAs({ type, id }: Asker): { key: string } | { group: string } {
  return type === 'key' ? { key: id } : { group: id };
}
