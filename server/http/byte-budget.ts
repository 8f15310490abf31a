/**
 * How many bytes of request bodies and of answers that are held whole lie in memory at the same time, over all requests.
 * Above `settings.admission.bytes` a new body waits its turn before it is read. Owns the sum and the line.
 *
 * Nobody can wait for ever: what has no room within the admission's wait is refused, and one body at a time may go beyond
 * the bound, so that one that is longer than all of it, or has begun and turns out longer than was known, comes to its end.
 */
import type { ServerResponse } from 'node:http';
import type { CompiledKey } from '../routing/snapshot.ts';
import type { Owner } from './fair-queue.ts';
import { type AdmissionLimits, WaitingLine, type Wish } from './waiting-line.ts';

/** Up to this length a body never waits: the number of requests bounds these, and a client of small ones is not held up. */
const smallBodyBytes = 64 * 1024;
/** So many times the bytes that would stay free a key may hold: the large bodies of one do not keep those of another out. */
const timesOfFree = 9;
const largestShare = timesOfFree / (timesOfFree + 1);

interface BytesWish extends Wish {
  held: HeldBytes;
  bytes: number;
  hasBegun: boolean;
}

export class ByteBudget {
  readonly #limits: () => AdmissionLimits;
  /** In place of a limit of 0. */
  readonly #automaticBytes: number;
  readonly #line: WaitingLine<BytesWish, void>;
  readonly #heldByKey = new Map<string, number>();
  #held = 0;
  /** The one that went beyond the bound. */
  #overdrawnBy: HeldBytes | null = null;

  constructor(limits: () => AdmissionLimits, automaticBytes: number) {
    this.#limits = limits;
    this.#automaticBytes = automaticBytes;
    this.#line = new WaitingLine({
      limits,
      mayHave: (wish) => this.#fits(wish) || this.#mayOverdraw(wish),
      give: (wish) => this.#give(wish),
      shortage: 'Sluice holds as many bytes of requests and answers at the same time as it takes.',
    });
  }

  get held(): number {
    return this.#held;
  }

  get waiting(): number {
    return this.#line.size;
  }

  get hasRoom(): boolean {
    return this.#held <= this.#bound;
  }

  /** The account of one request, which has to be released in the end. */
  open({ id, groupId }: CompiledKey, response: ServerResponse): HeldBytes {
    return new HeldBytes(this, { group: groupId, key: id }, response);
  }

  take(wish: BytesWish): void | Promise<void> {
    if (wish.bytes <= smallBodyBytes || this.#fits(wish) || this.#mayOverdraw(wish)) this.#give(wish);
    else return this.#line.wait(wish);
  }

  /** Counts what is there, without a question; less than nothing gives it back. */
  change(key: string, bytes: number): void {
    this.#held += bytes;
    const ofKey = (this.#heldByKey.get(key) ?? 0) + bytes;
    if (ofKey === 0) this.#heldByKey.delete(key);
    else this.#heldByKey.set(key, ofKey);
    if (bytes >= 0) return;
    if (this.#overdrawnBy?.bytes === 0 || this.hasRoom) this.#overdrawnBy = null;
    this.#line.admitNext();
  }

  get #bound(): number {
    return this.#limits().bytes || this.#automaticBytes;
  }

  #fits({ owner, bytes }: BytesWish): boolean {
    const free = this.#bound - this.#held - bytes;
    const ofKey = this.#heldByKey.get(owner.key) ?? 0;
    // Whoever holds nothing may have all that the others have left.
    return free >= 0 && (ofKey === 0 || ofKey + bytes <= free * timesOfFree);
  }

  #mayOverdraw({ held, bytes, hasBegun }: BytesWish): boolean {
    if (this.#overdrawnBy !== null && this.#overdrawnBy !== held) return false;
    return hasBegun || bytes > this.#bound * largestShare;
  }

  #give(wish: BytesWish): void {
    const { held, bytes } = wish;
    if (bytes > smallBodyBytes && !this.#fits(wish)) this.#overdrawnBy = held;
    held.add(bytes);
  }
}

/** What one request holds. */
export class HeldBytes {
  readonly #budget: ByteBudget;
  readonly #owner: Owner;
  readonly #response: ServerResponse;
  #bytes = 0;
  #isReleased = false;

  constructor(budget: ByteBudget, owner: Owner, response: ServerResponse) {
    this.#budget = budget;
    this.#owner = owner;
    this.#response = response;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** What is held already has no room together with all else. */
  get isTooMuch(): boolean {
    return !this.#budget.hasRoom;
  }

  /**
   * To be called before so many bytes more are read; to be waited for where it answers with a promise. `hasBegun`: some of
   * the body are there already. Rejects with a GatewayError `overloaded`, and with ClientGone.
   */
  reserve(bytes: number, hasBegun: boolean): void | Promise<void> {
    return this.#budget.take({ owner: this.#owner, response: this.#response, held: this, bytes, hasBegun });
  }

  /** Counts what is there anyway. */
  add(bytes: number): void {
    if (bytes === 0 || this.#isReleased) return;
    this.#bytes += bytes;
    this.#budget.change(this.#owner.key, bytes);
  }

  /** The request is over and its answer has left for its client, or the client is gone: nothing of it is there any more. */
  release(): void {
    this.add(-this.#bytes);
    this.#isReleased = true;
  }
}
