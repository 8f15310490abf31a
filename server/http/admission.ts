/**
 * How many requests run at the same time, and who is next when no more may. Owns the count and the line; a request asks
 * when its key is known and before its body is read, so that one that is turned away costs next to nothing.
 *
 * Any one group may take all places but a tenth: long streams of one do not leave the others without.
 */
import type { ServerResponse } from 'node:http';
import { AwakeTimer } from '../awake-clock.ts';
import { GatewayError } from '../contract/errors.ts';
import type { Settings } from '../contract/settings.ts';
import type { CompiledKey } from '../routing/snapshot.ts';
import { ClientGone } from './body/read-body.ts';
import { FairQueue, type Owner } from './fair-queue.ts';

type AdmissionLimits = Settings['admission'];

/** Held by a request that runs. */
export interface Place {
  /** Gives it back once the answer has left for its client, or the client is gone. */
  leaveAfter(response: ServerResponse): void;
}

interface Waiter {
  owner: Owner;
  admit(): void;
  refuse(error: Error): void;
}

const reservedShare = 0.1;

export class Admission {
  readonly #limits: () => AdmissionLimits;
  readonly #queue = new FairQueue<Waiter>();
  readonly #runningByGroup = new Map<string, number>();
  #running = 0;

  constructor(limits: () => AdmissionLimits) {
    this.#limits = limits;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#queue.size;
  }

  /**
   * At once where there is a place, which is nearly always. Rejects or throws with a GatewayError `overloaded` where the
   * line is full or the wait was too long, and with ClientGone.
   */
  enter(key: CompiledKey, response: ServerResponse): Place | Promise<Place> {
    return this.#mayRun(key.groupId) ? this.#place(key.groupId) : this.#wait(key, response);
  }

  readonly #mayRun = (group: string): boolean => {
    const { running } = this.#limits();
    const reserved = Math.floor(running * reservedShare);
    return this.#running < running && (this.#runningByGroup.get(group) ?? 0) < running - reserved;
  };

  #place(group: string): Place {
    this.#running++;
    this.#runningByGroup.set(group, (this.#runningByGroup.get(group) ?? 0) + 1);
    const leave = () => this.#leave(group);
    return {
      leaveAfter(response) {
        if (response.closed) leave();
        else response.once('close', leave);
      },
    };
  }

  #leave(group: string): void {
    this.#running--;
    const left = (this.#runningByGroup.get(group) ?? 1) - 1;
    if (left === 0) this.#runningByGroup.delete(group);
    else this.#runningByGroup.set(group, left);
    if (this.#queue.size > 0) this.#admitNext();
  }

  /** More than one, if the limits were raised meanwhile. */
  #admitNext(): void {
    for (let next = this.#queue.take(this.#mayRun); next; next = this.#queue.take(this.#mayRun)) next.admit();
  }

  async #wait({ id, groupId }: CompiledKey, response: ServerResponse): Promise<Place> {
    const owner = { group: groupId, key: id };
    const { waiting, waitMs } = this.#limits();
    if (this.#queue.size >= waiting) this.#makeRoom(owner);
    const turn = Promise.withResolvers<Place>();
    const waiter: Waiter = {
      owner,
      admit: () => turn.resolve(this.#place(groupId)),
      refuse: (error) => {
        this.#queue.remove(waiter);
        turn.reject(error);
      },
    };
    const gone = () => waiter.refuse(new ClientGone());
    const timer = new AwakeTimer(() => waiter.refuse(overloaded(waitMs)), waitMs);
    response.once('close', gone);
    this.#queue.add(waiter);
    try {
      return await turn.promise;
    } finally {
      timer.clear();
      response.off('close', gone);
    }
  }

  #makeRoom(newcomer: Owner): void {
    const { waiting, waitMs } = this.#limits();
    const displaced = waiting > 0 ? this.#queue.displacedBy(newcomer) : undefined;
    if (!displaced) throw overloaded(waitMs);
    displaced.refuse(overloaded(waitMs));
  }
}

function overloaded(waitMs: number): GatewayError {
  return new GatewayError(
    'overloaded',
    'Sluice has more requests at the same time than it takes. Nothing was sent to a provider; try again in a moment. The limits are under settings.admission.',
    { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 2_000)) },
  );
}
