/** A queue of requests waiting for a scarce resource, limited in length and time by `settings.admission`. */

import type { ServerResponse } from 'node:http';
import { GatewayError } from '../contract/errors.ts';
import type { Settings } from '../contract/settings.ts';
import { ClientGone } from '../exchange/request/request-body.ts';
import { AwakeTimer } from '../ground/awake-clock.ts';
import { FairQueue, type Owner } from './fair-queue.ts';

export type AdmissionLimits = Settings['admission'];

/** A waiting request. */
export interface Waiting {
  readonly owner: Owner;
  /** The request leaves the queue when this closes. */
  readonly response: ServerResponse;
}

interface WaitQueueOptions<W extends Waiting, T> {
  limits(): AdmissionLimits;
  isAdmissible(claim: W): boolean;
  /** Grants the resource, synchronously with its becoming available. */
  give(claim: W): T;
  /** What is scarce, as a sentence for the error. */
  shortage: string;
}

interface Waiter<W extends Waiting> {
  owner: Owner;
  claim: W;
  admit(): void;
  refuse(error: Error): void;
}

export class WaitQueue<W extends Waiting, T> {
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

  /** Must be called when the resource may have become available. */
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
