/**
 * Limits the memory of request bodies and buffered answers, over all requests. Above `settings.admission.bytes` a new body
 * waits before it is read.
 *
 * There is no deadlock: waiting is limited by the admission's `waitMs`, and one body at a time may exceed the limit, so that
 * one that is larger than the whole limit, or turns out longer than known, can be finished.
 */
import type { ServerResponse } from 'node:http';
import type { HeapShare, ParsedSize } from '../exchange/request/outgoing-call.ts';
import type { CompiledKey } from '../routing/snapshot.ts';
import { type AdmissionLimits, type Owner, type Queued, WaitQueue } from './admission.ts';

/** Bodies up to this length never wait; their total is bounded by the number of requests. */
const smallBodyBytes = 64 * 1024;
/** A key may hold at most this many times the bytes that remain free, so that it cannot block other keys. */
const timesOfFree = 9;
const largestShare = timesOfFree / (timesOfFree + 1);

interface WaitingForBytes extends Queued {
  memory: RequestMemory;
  bytes: number;
  hasBegun: boolean;
}

export class ByteBudget {
  readonly #limits: () => AdmissionLimits;
  readonly heap: HeapShare;
  /** The limit for a setting of 0. */
  readonly #automaticBytes: number;
  readonly #queue: WaitQueue<WaitingForBytes, void>;
  readonly #heldByKey = new Map<string, number>();
  #heldBytes = 0;
  /** The request that exceeds the limit. */
  #overdrawnBy: RequestMemory | null = null;

  constructor(limits: () => AdmissionLimits, automaticBytes: number, heap: HeapShare) {
    this.#limits = limits;
    this.heap = heap;
    this.#automaticBytes = automaticBytes;
    this.#queue = new WaitQueue({
      limits,
      isAdmissible: (claim) => this.#fits(claim) || this.#mayOverdraw(claim),
      give: (claim) => this.#give(claim),
      shortage: 'Sluice holds as many bytes of requests and answers at the same time as it takes.',
    });
  }

  get held(): number {
    return this.#heldBytes;
  }

  get waiting(): number {
    return this.#queue.size;
  }

  get hasRoom(): boolean {
    return this.#heldBytes <= this.#bound;
  }

  /** The account of one request, which must be released. */
  open({ id, groupId }: CompiledKey, response: ServerResponse): RequestMemory {
    return new RequestMemory(this, { group: groupId, key: id }, response);
  }

  take(claim: WaitingForBytes): void | Promise<void> {
    if (claim.bytes <= smallBodyBytes || this.#fits(claim) || this.#mayOverdraw(claim)) this.#give(claim);
    else return this.#queue.wait(claim);
  }

  /** Counts bytes unconditionally; a negative number releases them. */
  change(key: string, bytes: number): void {
    this.#heldBytes += bytes;
    const ofKey = (this.#heldByKey.get(key) ?? 0) + bytes;
    if (ofKey === 0) this.#heldByKey.delete(key);
    else this.#heldByKey.set(key, ofKey);
    if (bytes >= 0) return;
    if (this.#overdrawnBy?.bytes === 0 || this.hasRoom) this.#overdrawnBy = null;
    this.#queue.admitNext();
  }

  get #bound(): number {
    return this.#limits().bytes || this.#automaticBytes;
  }

  #fits({ owner, bytes }: WaitingForBytes): boolean {
    const free = this.#bound - this.#heldBytes - bytes;
    const ofKey = this.#heldByKey.get(owner.key) ?? 0;
    // A key that holds nothing may take all free bytes.
    return free >= 0 && (ofKey === 0 || ofKey + bytes <= free * timesOfFree);
  }

  #mayOverdraw({ memory, bytes, hasBegun }: WaitingForBytes): boolean {
    if (this.#overdrawnBy !== null && this.#overdrawnBy !== memory) return false;
    return hasBegun || bytes > this.#bound * largestShare;
  }

  #give(claim: WaitingForBytes): void {
    const { memory, bytes } = claim;
    if (bytes > smallBodyBytes && !this.#fits(claim)) this.#overdrawnBy = memory;
    memory.add(bytes);
  }
}

/** The bytes held by one request, and its share of the heap. */
export class RequestMemory {
  readonly #budget: ByteBudget;
  readonly #owner: Owner;
  readonly #response: ServerResponse;
  #bytes = 0;
  #heapBytes = 0;
  #isReleased = false;
  #whenReleased: (() => void)[] | undefined;

  constructor(budget: ByteBudget, owner: Owner, response: ServerResponse) {
    this.#budget = budget;
    this.#owner = owner;
    this.#response = response;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Whether the limit is exceeded at present. */
  get isExceeded(): boolean {
    return !this.#budget.hasRoom;
  }

  /**
   * Reserves memory for bytes that are still to be read; returns a promise if it has to wait. `hasBegun`: part of the body
   * was read already. Rejects with a GatewayError `overloaded`, and with ClientGone.
   */
  reserve(bytes: number, hasBegun: boolean): void | Promise<void> {
    return this.#budget.take({ owner: this.#owner, response: this.#response, memory: this, bytes, hasBegun });
  }

  /** Counts bytes that exist already. */
  add(bytes: number): void {
    if (bytes === 0 || this.#isReleased) return;
    this.#bytes += bytes;
    this.#budget.change(this.#owner.key, bytes);
  }

  parse(size: ParsedSize): void {
    if (!this.#isReleased) this.#heapBytes = this.#budget.heap.hold(size, this.#heapBytes);
  }

  whenReleased(action: () => void): void {
    if (this.#isReleased) action();
    else if (this.#whenReleased) this.#whenReleased.push(action);
    else this.#whenReleased = [action];
  }

  mayParse(size: ParsedSize): boolean {
    return this.#budget.heap.hasRoomFor(size);
  }

  /** Releases everything; to be called once the response was sent or the client has disconnected. */
  release(): void {
    this.add(-this.#bytes);
    this.#budget.heap.release(this.#heapBytes);
    this.#heapBytes = 0;
    this.#isReleased = true;
    for (const action of this.#whenReleased ?? []) action();
    this.#whenReleased = undefined;
  }
}
