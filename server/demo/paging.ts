/** A page of a list, as the cursor parameters `limit`, `after` and `order` ask; newest first unless asked otherwise. */
import { invalidValue } from './demo-error.ts';

const MAX_LIMIT = 100;

export function pageOf<Item extends { id: string }>(oldestFirst: readonly Item[], query: URLSearchParams) {
  const limit = Number(query.get('limit') ?? 20);
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT) throw invalidValue('limit', `use 1 to ${MAX_LIMIT}`);
  const ordered = query.get('order') === 'asc' ? oldestFirst : oldestFirst.toReversed();
  const after = query.get('after');
  const start = after === null ? 0 : ordered.findIndex((item) => item.id === after) + 1;
  const data = ordered.slice(start, start + limit);
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: start + data.length < ordered.length,
  };
}
