import { controlError } from '../../contract/control-error.ts';

const maxLength = 56;

/**
 * Returns the wanted id if it is free, and otherwise throws `conflict`. Without a wanted id, returns a unique one
 * derived from the first usable name, or from `prefix` and a number.
 */
export function chooseId(
  requestedId: string | undefined,
  names: readonly (string | undefined)[],
  usedIds: Iterable<string>,
  prefix: string,
): string {
  const ids = new Set(usedIds);
  if (requestedId !== undefined) {
    if (ids.has(requestedId)) throw controlError('conflict', { code: 'id-taken', id: requestedId }, 'id');
    return requestedId;
  }
  const base = names.map((name) => toId(name ?? '')).find((id) => id !== '');
  if (base === undefined) return firstFree(prefix, 1, ids);
  return ids.has(base) ? firstFree(`${base}-`, 2, ids) : base;
}

function firstFree(prefix: string, from: number, usedIds: ReadonlySet<string>): string {
  let number = from;
  while (usedIds.has(`${prefix}${number}`)) number++;
  return `${prefix}${number}`;
}

/** `Büro & Co.` becomes `buro-co`; empty if no character is usable. */
function toId(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}+/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+/, '')
    .slice(0, maxLength)
    .replace(/(?<!-)-+$/, '');
}
