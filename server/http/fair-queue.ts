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
    const lanes = this.#groups.get(group) ?? { keys: new Map<string, Lane<T>>(), size: 0 };
    const lane = lanes.keys.get(key) ?? [];
    lane.push(item);
    lanes.keys.set(key, lane);
    lanes.size++;
    this.#groups.set(group, lanes);
    this.#size++;
  }

  /** Removes the next entry that `isAdmissible`; its group and key move to the end. */
  take(isAdmissible: (item: T) => boolean): T | undefined {
    for (const [group, lanes] of this.#groups) {
      for (const [key, lane] of lanes.keys) {
        const [item] = lane;
        if (!item || !isAdmissible(item)) continue;
        this.remove(item);
        if (lane.length > 0) moveToEnd(lanes.keys, key);
        if (lanes.size > 0) moveToEnd(this.#groups, group);
        return item;
      }
    }
    return undefined;
  }

  remove(item: T): void {
    const { group, key } = item.owner;
    const lanes = this.#groups.get(group);
    const lane = lanes?.keys.get(key);
    const index = lane?.indexOf(item) ?? -1;
    if (!lanes || !lane || index === -1) return;
    lane.splice(index, 1);
    lanes.size--;
    this.#size--;
    if (lane.length === 0) lanes.keys.delete(key);
    if (lanes.size === 0) this.#groups.delete(group);
  }

  /**
   * The entry to evict from a full queue for `newcomer`: the last one of the longest lane, if its owner would still have as
   * many entries as the newcomer's. Undefined: refuse the newcomer.
   */
  displacedBy(newcomer: Owner): T | undefined {
    const [group, lanes] = longest(this.#groups, ({ size }) => size);
    if (!lanes) return undefined;
    const ownLanes = this.#groups.get(newcomer.group);
    if (group !== newcomer.group && (ownLanes?.size ?? 0) + 1 >= lanes.size) return undefined;
    const [key, lane] = longest(lanes.keys, ({ length }) => length);
    const ownLength = lanes.keys.get(newcomer.key)?.length ?? 0;
    const isSameKey = group === newcomer.group && key === newcomer.key;
    if (isSameKey || (group === newcomer.group && ownLength + 1 >= (lane?.length ?? 0))) return undefined;
    return lane?.at(-1);
  }
}

function longest<V>(lanes: ReadonlyMap<string, V>, sizeOf: (lane: V) => number): [string, V] | [] {
  let longestEntry: [string, V] | [] = [];
  let longestSize = 0;
  for (const entry of lanes) {
    const size = sizeOf(entry[1]);
    if (size > longestSize) {
      longestSize = size;
      longestEntry = entry;
    }
  }
  return longestEntry;
}

function moveToEnd<V>(map: Map<string, V>, name: string): void {
  const value = map.get(name);
  if (value === undefined) return;
  map.delete(name);
  map.set(name, value);
}
