import type { LimitScope } from '../contract/limits.ts';

/** A key or group. */
export interface Party {
  scope: LimitScope;
  id: string;
}

/** Values of keys and groups. With 100,000 keys, a joined text to look them up by would cost each request microseconds. */
export class PartyMap<Value> {
  readonly #maps: Record<LimitScope, Map<string, Value>> = { key: new Map(), group: new Map() };

  get isEmpty(): boolean {
    return this.#maps.key.size + this.#maps.group.size === 0;
  }

  get({ scope, id }: Party): Value | undefined {
    return this.#maps[scope].get(id);
  }

  set({ scope, id }: Party, value: Value): void {
    this.#maps[scope].set(id, value);
  }

  delete({ scope, id }: Party): void {
    this.#maps[scope].delete(id);
  }

  *parties(): IterableIterator<Party> {
    for (const scope of ['key', 'group'] as const) for (const id of this.#maps[scope].keys()) yield { scope, id };
  }

  *values(): IterableIterator<Value> {
    yield* this.#maps.key.values();
    yield* this.#maps.group.values();
  }
}
