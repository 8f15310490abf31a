/**
 * A line in which groups take turns, and within a group its keys: whoever asks a thousand times waits behind itself and
 * not in front of others. Knows nothing of what waits.
 */

export interface Owner {
  group: string;
  key: string;
}

type Lane<T> = T[];

/** The keys of a group that wait, whose turn is next at the front. */
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

  /** The next in turn among those that `mayGo`; both its group and its key then go to the end. */
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
   * Who has to go so that `newcomer` can wait in a line that is full: the last of the longest lane, if its owner would
   * still have no fewer in line than the newcomer's. Undefined: the newcomer itself.
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
