/** Admission: how many requests run at the same time, and the queues in which groups take turns. */
import type { ServerResponse } from 'node:http';
import { GatewayError } from '../contract/errors.ts';
import type { Settings } from '../contract/settings.ts';
import { ClientGone } from '../exchange/request/request-body.ts';
import { AwakeTimer } from '../ground/timers.ts';
import type { CompiledKey } from '../routing/snapshot.ts';

/** Held by a running request until it ends. */
export interface Permit {
  /** When the response has been sent or the client has disconnected. Further calls do nothing. */
  release(): void;
}

interface WaitingForPermit extends Queued {
  sharesGroup: boolean;
}

const reservedShare = 0.1;
/** If its group has other keys, a key may have at most this many times the permits that remain free to the group. */
const timesOfFree = 19;

/**
 * Limits the number of requests running at the same time. Requests are admitted once their key is known, before the
 * body is read, so that refusing one is cheap.
 *
 * One group may take at most nine tenths of all permits. If a group has several keys, none may take all of its permits.
 */
export class Admission {
  readonly #limits: () => AdmissionLimits;
  readonly #mostRunning: number;
  readonly #queue: WaitQueue<WaitingForPermit, Permit>;
  readonly #runningByGroup = new Map<string, number>();
  readonly #runningByKey = new Map<string, number>();
  #running = 0;

  /** @param mostRunning what the machine allows, whatever the settings say */
  constructor(limits: () => AdmissionLimits, mostRunning = Number.POSITIVE_INFINITY) {
    this.#limits = limits;
    this.#mostRunning = mostRunning;
    this.#queue = new WaitQueue({
      limits,
      isAdmissible: ({ owner, sharesGroup }) => this.#mayRun(owner.group, owner.key, sharesGroup),
      give: ({ owner }) => this.#admit(owner),
      shortage: 'Sluice has more requests at the same time than it takes.',
    });
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#queue.size;
  }

  /**
   * Usually resolves at once. Rejects with a GatewayError `overloaded` if the queue is full or the wait was too long, and
   * with ClientGone. Throws `machine_overloaded` if the machine allows no more: those who wait need descriptors as well.
   */
  enter({ id, groupId, sharesGroup }: CompiledKey, response: ServerResponse): Permit | Promise<Permit> {
    if (this.#running >= this.#mostRunning) throw tooFewDescriptors(this.#mostRunning);
    const owner = { group: groupId, key: id };
    if (this.#mayRun(groupId, id, sharesGroup)) return this.#admit(owner);
    return this.#queue.wait({ owner, response, sharesGroup });
  }

  #mayRun(group: string, key: string, sharesGroup: boolean): boolean {
    const { running } = this.#limits();
    if (this.#running >= this.#mostRunning) return false;
    const ofGroup = running - Math.floor(running * reservedShare);
    const free = Math.min(running - this.#running, ofGroup - (this.#runningByGroup.get(group) ?? 0)) - 1;
    if (free < 0 || !sharesGroup) return free >= 0;
    // Relative to the free permits rather than a fixed share, so that several keys together leave some free as well.
    return (this.#runningByKey.get(key) ?? 0) <= free * timesOfFree;
  }

  #admit(owner: Owner): Permit {
    this.#running++;
    count(this.#runningByGroup, owner.group, 1);
    count(this.#runningByKey, owner.key, 1);
    let isHeld = true;
    const release = () => {
      if (isHeld) this.#leave(owner);
      isHeld = false;
    };
    return { release };
  }

  #leave({ group, key }: Owner): void {
    this.#running--;
    count(this.#runningByGroup, group, -1);
    count(this.#runningByKey, key, -1);
    this.#queue.admitNext();
  }
}

/** Closes the connection, of which the client needs a new one for its next attempt. */
function tooFewDescriptors(mostRunning: number): GatewayError {
  return new GatewayError(
    'machine_overloaded',
    `Sluice runs ${mostRunning} requests, as many as this machine's limit on open files allows. Nothing was sent to a provider; try again in a moment. A higher limit (ulimit -n) allows more.`,
    { retryAfterSeconds: 2, headers: { connection: 'close' } },
  );
}

function count(counts: Map<string, number>, name: string, change: number): void {
  const now = (counts.get(name) ?? 0) + change;
  if (now === 0) counts.delete(name);
  else counts.set(name, now);
}

// Queues in which groups take turns, and those who wait can leave.

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
