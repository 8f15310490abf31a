/**
 * `next`, of which each part that equals its counterpart in `previous` is that very object: what is memoised on it is not drawn
 * again. Both are JSON values. Entries of lists are compared by `id`, or by place if they have none. Pure.
 */
export function keepEqualParts<Value>(previous: unknown, next: Value): Value {
  // Safe: `previous` is returned only where it equals `next`.
  return kept(previous, next) as Value;
}

function kept(previous: unknown, next: unknown): unknown {
  if (Object.is(previous, next) || !isComposite(previous) || !isComposite(next)) return next;
  if (Array.isArray(next)) return Array.isArray(previous) ? keptList(previous, next) : next;
  if (Array.isArray(previous)) return next;
  const names = Object.keys(next);
  const parts = names.map((name) => [name, kept(previous[name], next[name])] as const);
  const isEqual =
    names.length === Object.keys(previous).length && parts.every(([name, part]) => part === previous[name]);
  return isEqual ? previous : Object.fromEntries(parts);
}

function keptList(previous: unknown[], next: unknown[]): unknown[] {
  const byId = new Map(previous.map((each) => [idOf(each), each]));
  byId.delete(undefined);
  const parts = next.map((each, index) => kept(byId.get(idOf(each)) ?? previous[index], each));
  return previous.length === parts.length && parts.every((part, index) => part === previous[index]) ? previous : parts;
}

type Composite = Record<string, unknown>;

function isComposite(value: unknown): value is Composite {
  return typeof value === 'object' && value !== null;
}

function idOf(value: unknown): unknown {
  return isComposite(value) ? value.id : undefined;
}
