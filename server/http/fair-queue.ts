/** A queue that serves groups round-robin, and within a group its keys. */

export interface Owner {
  group: string;
  key: string;
}

type Lane<T> = T[];

/** The waiting keys of a group, next one first. */
interface Waiting<T> {
  keys: Map<string, Lane<T>>;
  size: number;
}

export class FairQueue<T extends { readonly owner: Owner }> {
  readonly #groups = new Map<string, Waiting<T>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(item: T): void {
    const { group, key } = item.owner;
    const waiting = this.#groups.get(group) ?? { keys: new Map<string, Lane<T>>(), size: 0 };
    const lane = waiting.keys.get(key) ?? [];
    lane.push(item);
    waiting.keys.set(key, lane);
    waiting.size++;
    this.#groups.set(group, waiting);
    this.#size++;
  }

  /** Removes the next entry that `mayGo`; its group and key move to the end. */
  take(mayGo: (item: T) => boolean): T | undefined {
    for (const [group, waiting] of this.#groups) {
      for (const [key, lane] of waiting.keys) {
        const [item] = lane;
        if (!item || !mayGo(item)) continue;
        this.remove(item);
        if (lane.length > 0) moveToEnd(waiting.keys, key);
        if (waiting.size > 0) moveToEnd(this.#groups, group);
        return item;
      }
    }
    return undefined;
  }

  remove(item: T): void {
    const { group, key } = item.owner;
    const waiting = this.#groups.get(group);
    const lane = waiting?.keys.get(key);
    const place = lane?.indexOf(item) ?? -1;
    if (!waiting || !lane || place === -1) return;
    lane.splice(place, 1);
    waiting.size--;
    this.#size--;
    if (lane.length === 0) waiting.keys.delete(key);
    if (waiting.size === 0) this.#groups.delete(group);
  }

  /**
   * The entry to evict from a full queue for `newcomer`: the last one of the longest lane, if its owner would still have as
   * many entries as the newcomer's. Undefined: refuse the newcomer.
   */
  displacedBy(newcomer: Owner): T | undefined {
    const [group, waiting] = longest(this.#groups, ({ size }) => size);
    if (!waiting) return undefined;
    const own = this.#groups.get(newcomer.group);
    if (group !== newcomer.group && (own?.size ?? 0) + 1 >= waiting.size) return undefined;
    const [key, lane] = longest(waiting.keys, ({ length }) => length);
    const ownLength = waiting.keys.get(newcomer.key)?.length ?? 0;
    const isSameKey = group === newcomer.group && key === newcomer.key;
    if (isSameKey || (group === newcomer.group && ownLength + 1 >= (lane?.length ?? 0))) return undefined;
    return lane?.at(-1);
  }
}

function longest<V>(lanes: ReadonlyMap<string, V>, sizeOf: (lane: V) => number): [string, V] | [] {
  let found: [string, V] | [] = [];
  let most = 0;
  for (const entry of lanes) {
    const size = sizeOf(entry[1]);
    if (size > most) {
      most = size;
      found = entry;
    }
  }
  return found;
}

function moveToEnd<V>(map: Map<string, V>, name: string): void {
  const value = map.get(name);
  if (value === undefined) return;
  map.delete(name);
  map.set(name, value);
}
