/** Queues in which groups take turns, and those who wait can leave. */
import type { ServerResponse } from 'node:http';
import { GatewayError } from '../contract/errors.ts';
import type { Settings } from '../contract/settings.ts';
import { ClientGone } from '../exchange/request/request-body.ts';
import { AwakeTimer } from '../ground/awake-clock.ts';

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

/** A queue that serves groups round-robin, and within a group its keys. */
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

export type AdmissionLimits = Settings['admission'];

/** A waiting request. */
export interface Queued {
  readonly owner: Owner;
  /** The request leaves the queue when this closes. */
  readonly response: ServerResponse;
}

interface WaitQueueOptions<W extends Queued, T> {
  limits(): AdmissionLimits;
  isAdmissible(claim: W): boolean;
  /** Grants the resource, synchronously with its becoming available. */
  give(claim: W): T;
  /** What is scarce, as a sentence for the error. */
  shortage: string;
}

interface Waiter<W extends Queued> {
  owner: Owner;
  claim: W;
  admit(): void;
  refuse(error: Error): void;
}

/** A queue of requests waiting for a scarce resource, limited in length and time by `settings.admission`. */
export class WaitQueue<W extends Queued, T> {
  readonly #options: WaitQueueOptions<W, T>;
  readonly #queue = new FairQueue<Waiter<W>>();

  constructor(options: WaitQueueOptions<W, T>) {
    this.#options = options;
  }

  get size(): number {
    return this.#queue.size;
  }

  /** Rejects with a GatewayError `overloaded` if the queue is full or the wait was too long, and with ClientGone. */
  async wait(claim: W): Promise<T> {
    const { limits, give } = this.#options;
    const { waiting, waitMs } = limits();
    const { owner, response } = claim;
    if (this.#queue.size >= waiting) this.#makeRoom(owner);
    const turn = Promise.withResolvers<T>();
    const waiter: Waiter<W> = {
      owner,
      claim,
      admit: () => turn.resolve(give(claim)),
      refuse: (error) => {
        this.#queue.remove(waiter);
        turn.reject(error);
      },
    };
    const refuseGone = () => waiter.refuse(new ClientGone());
    const timer = new AwakeTimer(() => waiter.refuse(this.#overloaded(waitMs)), waitMs);
    response.once('close', refuseGone);
    this.#queue.add(waiter);
    try {
      return await turn.promise;
    } finally {
      timer.clear();
      response.off('close', refuseGone);
    }
  }

  /** Admits those who wait, as far as the resource is available. */
  admitNext(): void {
    if (this.#queue.size === 0) return;
    const isAdmissible = ({ claim }: Waiter<W>) => this.#options.isAdmissible(claim);
    for (let next = this.#queue.take(isAdmissible); next; next = this.#queue.take(isAdmissible)) next.admit();
  }

  #makeRoom(newcomer: Owner): void {
    const { waiting, waitMs } = this.#options.limits();
    const displaced = waiting > 0 ? this.#queue.displacedBy(newcomer) : undefined;
    if (!displaced) throw this.#overloaded(waitMs);
    displaced.refuse(this.#overloaded(waitMs));
  }

  #overloaded(waitMs: number): GatewayError {
    return new GatewayError(
      'overloaded',
      `${this.#options.shortage} Nothing was sent to a provider; try again in a moment. The limits are under settings.admission.`,
      { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 2_000)) },
    );
  }
}
