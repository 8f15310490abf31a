import { controlError } from '../contract/control-error.ts';

const maxLength = 56;

/**
 * The id that was asked for, which must be free; else one made of the first of `names` that yields any; else `prefix` with
 * a number. What is made is made unique.
 */
export function chooseId(
  wanted: string | undefined,
  names: readonly (string | undefined)[],
  taken: Iterable<string>,
  prefix: string,
): string {
  const ids = new Set(taken);
  if (wanted !== undefined) {
    if (ids.has(wanted)) throw controlError('conflict', { code: 'id-taken', id: wanted }, 'id');
    return wanted;
  }
  const base = names.map((name) => toId(name ?? '')).find((id) => id !== '');
  if (base === undefined) return firstFree(prefix, 1, ids);
  return ids.has(base) ? firstFree(`${base}-`, 2, ids) : base;
}

function firstFree(prefix: string, from: number, taken: ReadonlySet<string>): string {
  let number = from;
  while (taken.has(`${prefix}${number}`)) number++;
  return `${prefix}${number}`;
}

/** `Büro & Co.` becomes `buro-co`. Empty if nothing of it can stand in an id. */
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
