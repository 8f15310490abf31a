import { controlError } from '../contract/control-error.ts';
import type { Named } from '../contract/control-problem.ts';

/** The one with that id. Throws GatewayError `not_found`, which calls it by its `noun`. */
export function findById<Item extends { id: string }>(list: readonly Item[], id: string, noun: Named): Item {
  const item = list.find((each) => each.id === id);
  if (!item) throw controlError('not_found', { code: `no-${noun}`, id }, 'id');
  return item;
}

/** The list with `item` in place of the one of its id, or at the end. */
export function putById<Item extends { id: string }>(list: readonly Item[], item: Item): Item[] {
  if (!list.some((each) => each.id === item.id)) return [...list, item];
  return list.map((each) => (each.id === item.id ? item : each));
}

export function withoutId<Item extends { id: string }>(list: readonly Item[], id: string): Item[] {
  return list.filter((each) => each.id !== id);
}

/** What is absent (or undefined) of `changes` stays; null removes. */
export function applyChanges(target: object, changes: object): Record<string, unknown> {
  const changed: Record<string, unknown> = { ...target };
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) delete changed[name];
    else if (value !== undefined) changed[name] = value;
  }
  return changed;
}

/** `"a", "b" and 3 more`. */
export function nameSome(names: readonly string[]): string {
  const shown = names.slice(0, 5).map((name) => `"${name}"`);
  return names.length > 5 ? `${shown.join(', ')} and ${names.length - 5} more` : shown.join(', ');
}
