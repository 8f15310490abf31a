import { GatewayError } from '../contract/errors.ts';

const maxLength = 56;

/** The id that was asked for, which must be free; else one made from the first of `names` that yields any, made unique. */
export function chooseId(
  wanted: string | undefined,
  names: readonly (string | undefined)[],
  taken: Iterable<string>,
): string {
  const ids = new Set(taken);
  if (wanted !== undefined) {
    if (ids.has(wanted))
      throw new GatewayError('conflict', `"${wanted}" is taken: choose another id.`, { param: 'id' });
    return wanted;
  }
  const base = names.map((name) => toId(name ?? '')).find((id) => id !== '') ?? 'new';
  return ids.has(base) ? firstFree(`${base}-`, 2, ids) : base;
}

/** `c1`, `c2`, …: the first that is free. */
export function firstFree(prefix: string, from: number, taken: ReadonlySet<string>): string {
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
    .replace(/-+$/, '');
}
