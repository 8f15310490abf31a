/**
 * How many requests run at the same time, and who is next when no more may. Owns the count; a request asks when its key is
 * known and before its body is read, so that one that is turned away costs next to nothing.
 *
 * Any one group may take all places but a tenth, and where it has several keys none of them alone can take all of the
 * group's: long streams of one do not leave the others without.
 */
import type { ServerResponse } from 'node:http';
import type { CompiledKey } from '../routing/snapshot.ts';
import type { Owner } from './fair-queue.ts';
import { type AdmissionLimits, WaitingLine, type Wish } from './waiting-line.ts';

/** Held by a request that runs. */
export interface Place {
  /** To be called once, when the answer has left for its client or the client is gone. */
  leave(): void;
}

interface PlaceWish extends Wish {
  sharesGroup: boolean;
}

const reservedShare = 0.1;
/** So many times the places that would stay free to its group a key may have, where the group has other keys too. */
const timesOfFree = 19;

export class Admission {
  readonly #limits: () => AdmissionLimits;
  readonly #line: WaitingLine<PlaceWish, Place>;
  readonly #runningByGroup = new Map<string, number>();
  readonly #runningByKey = new Map<string, number>();
  #running = 0;

  constructor(limits: () => AdmissionLimits) {
    this.#limits = limits;
    this.#line = new WaitingLine({
      limits,
      mayHave: ({ owner, sharesGroup }) => this.#mayRun(owner.group, owner.key, sharesGroup),
      give: ({ owner }) => this.#place(owner),
      shortage: 'Sluice has more requests at the same time than it takes.',
    });
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#line.size;
  }

  /**
   * At once where there is a place, which is nearly always. Rejects with a GatewayError `overloaded` where the line is full
   * or the wait was too long, and with ClientGone.
   */
  enter({ id, groupId, sharesGroup }: CompiledKey, response: ServerResponse): Place | Promise<Place> {
    const owner = { group: groupId, key: id };
    if (this.#mayRun(groupId, id, sharesGroup)) return this.#place(owner);
    return this.#line.wait({ owner, response, sharesGroup });
  }

  #mayRun(group: string, key: string, sharesGroup: boolean): boolean {
    const { running } = this.#limits();
    const ofGroup = running - Math.floor(running * reservedShare);
    const free = Math.min(running - this.#running, ofGroup - (this.#runningByGroup.get(group) ?? 0)) - 1;
    if (free < 0 || !sharesGroup) return free >= 0;
    // Measured by what is free, and not by a fixed share, so that several keys together leave something too.
    return (this.#runningByKey.get(key) ?? 0) <= free * timesOfFree;
  }

  #place(owner: Owner): Place {
    this.#running++;
    count(this.#runningByGroup, owner.group, 1);
    count(this.#runningByKey, owner.key, 1);
    return { leave: () => this.#leave(owner) };
  }

  #leave({ group, key }: Owner): void {
    this.#running--;
    count(this.#runningByGroup, group, -1);
    count(this.#runningByKey, key, -1);
    this.#line.admitNext();
  }
}

function count(counts: Map<string, number>, name: string, change: number): void {
  const now = (counts.get(name) ?? 0) + change;
  if (now === 0) counts.delete(name);
  else counts.set(name, now);
}
