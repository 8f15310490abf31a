/**
 * Limits the number of requests running at the same time. Requests are admitted once their key is known, before the
 * body is read, so that refusing one is cheap.
 *
 * One group may take at most nine tenths of all permits. If a group has several keys, none may take all of its permits.
 */
import type { ServerResponse } from 'node:http';
import { GatewayError } from '../contract/errors.ts';
import type { CompiledKey } from '../routing/snapshot.ts';
import { type AdmissionLimits, type Owner, type Queued, WaitQueue } from './fair-queue.ts';

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
