import type { Chosen } from '../../../components/selects/chosen.ts';

/** Who would send the request, a key or any key of a group, as a query takes it. */
export function scopeQuery({ kind, id }: Chosen): { key: string } | { group: string } {
  return kind === 'key' ? { key: id } : { group: id };
}
