import { controlError } from '../../contract/control-error.ts';
import type { Named } from '../../contract/control-problem.ts';

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
