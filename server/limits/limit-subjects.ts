import type { LimitScope } from '../contract/limits.ts';

/** A key, group or person. */
export interface LimitSubject {
  scope: LimitScope;
  id: string;
}

/** A map by key or group. With 100,000 keys, a composed string as map key would cost each request microseconds. */
export class LimitSubjectMap<Value> {
  readonly #maps: Record<LimitScope, Map<string, Value>> = { key: new Map(), group: new Map(), person: new Map() };

  get isEmpty(): boolean {
    return this.#maps.key.size + this.#maps.group.size + this.#maps.person.size === 0;
  }

  get({ scope, id }: LimitSubject): Value | undefined {
    return this.#maps[scope].get(id);
  }

  set({ scope, id }: LimitSubject, value: Value): void {
    this.#maps[scope].set(id, value);
  }

  delete({ scope, id }: LimitSubject): void {
    this.#maps[scope].delete(id);
  }

  *subjects(): IterableIterator<LimitSubject> {
    for (const scope of ['key', 'group', 'person'] as const)
      for (const id of this.#maps[scope].keys()) yield { scope, id };
  }

  *values(): IterableIterator<Value> {
    yield* this.#maps.key.values();
    yield* this.#maps.group.values();
    yield* this.#maps.person.values();
  }
}
