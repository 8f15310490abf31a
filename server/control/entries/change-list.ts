/** Entries of the configuration's lists: found, put, removed, and named. */
import { controlError } from '../../contract/control-error.ts';
import type { Named } from '../../contract/control-problem.ts';
import type { CompiledProvider } from '../../routing/snapshot.ts';
import type { LiveConfig } from '../live/live-config.ts';

/** The entry with this id. Throws GatewayError `not_found`, whose message names the `noun`. */
export function findById<Item extends { id: string }>(list: readonly Item[], id: string, noun: Named): Item {
  const item = list.find((each) => each.id === id);
  if (!item) throw controlError('not_found', { code: `no-${noun}`, id }, 'id');
  return item;
}

/** Replaces the entry with the item's id, or appends the item. */
export function putById<Item extends { id: string }>(list: readonly Item[], item: Item): Item[] {
  if (!list.some((each) => each.id === item.id)) return [...list, item];
  return list.map((each) => (each.id === item.id ? item : each));
}

export function withoutId<Item extends { id: string }>(list: readonly Item[], id: string): Item[] {
  return list.filter((each) => each.id !== id);
}

/** Undefined changes are ignored; null removes a property. */
export function applyChanges(target: object, changes: object): Record<string, unknown> {
  const changed: Record<string, unknown> = { ...target };
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) delete changed[name];
    else if (value !== undefined) changed[name] = value;
  }
  return changed;
}

/** Formats names: `"a", "b" and 3 more`. */
export function nameSome(names: readonly string[]): string {
  const shown = names.slice(0, 5).map((name) => `"${name}"`);
  return names.length > 5 ? `${shown.join(', ')} and ${names.length - 5} more` : shown.join(', ');
}

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

/** The compiled provider with this id. Throws GatewayError `not_found`. */
export function findUpstream({ snapshot }: Pick<LiveConfig, 'snapshot'>, id: string): CompiledProvider {
  const provider = snapshot.providers.get(id);
  if (!provider) throw controlError('not_found', { code: 'no-provider', id }, 'id');
  return provider;
}
