/**
 * A call to an upstream, the memory that its request and what is parsed of it hold, and whether it may be repeated.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { getHeapStatistics } from 'node:v8';
import { isPurchase } from '../../apis/core/api.ts';
import type { RouteMatch } from '../../apis/registry.ts';
import { GatewayError } from '../../contract/errors.ts';
import type { NextAttempt } from '../../routing/attempt-plan.ts';
import type { CompiledGroup } from '../../routing/snapshot.ts';
import type { RequestBody } from './request-body.ts';

/** The request, independent of its target. */
export interface OutgoingCall {
  match: RouteMatch;
  group: CompiledGroup;
  body: RequestBody;
  /** The memory account of the request. */
  memory: MemoryAccount;
  /** The client's headers that may be forwarded. */
  headers: Readonly<Record<string, string>>;
  /** Relative to the API's base, percent-encoded as the client sent it. */
  path: string;
  /** The client's query that may be forwarded. */
  query: string;
}

export interface MemoryAccount {
  /** All requests together exceed the limit. */
  readonly isExceeded: boolean;
  /** A negative number releases memory. */
  add(bytes: number): void;
  /**
   * The request's body is parsed as a whole, which takes heap until the request ends.
   * @throws GatewayError `too_large` or `overloaded`
   */
  parse(size: ParsedSize): void;
  /** Called once when the request has ended, or at once if it has. */
  whenReleased(action: () => void): void;
  /** Whether the heap has room to parse this beside all requests. */
  mayParse(size: ParsedSize): boolean;
}

/**
 * The memory that one request and its response use, as part of limits shared by all requests.
 *
 * The share of one response.
 */
export class ResponseMemory {
  readonly #account: MemoryAccount;
  #bytes = 0;

  constructor(account: MemoryAccount) {
    this.#account = account;
  }

  /** The response now uses this much. Returns whether all requests together exceed the limit; false if nothing changed. */
  hold(bytes: number): boolean {
    if (bytes === this.#bytes) return false;
    this.#account.add(bytes - this.#bytes);
    this.#bytes = bytes;
    return this.#account.isExceeded;
  }
}

/** What a request must not do twice. A second deletion would say that the object was never there. */
export type NonRepeatable = 'purchase' | 'deletion';

/** Null: the request may be repeated. */
export function nonRepeatableKindOf({ method }: IncomingMessage, { match, body }: OutgoingCall): NonRepeatable | null {
  if (isPurchase(match.route, body)) return 'purchase';
  return method === 'DELETE' ? 'deletion' : null;
}

const idempotencyHeader = 'idempotency-key';

/**
 * The `Idempotency-Key` of a purchase (`isPurchase`): a provider that knows the header makes the object once, however often it
 * receives the request. draft-ietf-httpapi-idempotency-key-header; services that do not know it ignore it.
 *
 * Of one request: the same key for each attempt with the same credential, another one for each other.
 */
export class IdempotencyKeys {
  readonly #keys = new Map<string, string>();

  /** A key that the client or the provider's configuration has set stays. */
  addTo(
    headers: Record<string, string>,
    { target: { provider }, credential }: Pick<NextAttempt, 'target' | 'credential'>,
  ): void {
    if (!provider.dialect.takesIdempotencyKeys) return;
    if (Object.keys(headers).some((name) => name.toLowerCase() === idempotencyHeader)) return;
    const account = JSON.stringify([provider.id, credential?.id ?? null]);
    const key = this.#keys.get(account) ?? randomUUID();
    this.#keys.set(account, key);
    headers[idempotencyHeader] = key;
  }
}

/** Of V8's limit. The rest is for all other work, and for garbage that has yet to be collected. */
const heapShare = 0.5;
/** What a value takes at most while it is parsed and translated: measured for every pair of APIs. */
const bytesPerValue = 450;
/** Text exists as body, as value and in the new body, in two bytes a character if one of them needs two. */
const bytesPerByte = 8;
const retryAfterSeconds = 5;

export interface ParsedSize {
  bytes: number;
  /** Number of JSON values, at any depth. */
  values: number;
}

/**
 * Bounds the part of V8's heap that is used for what Sluice parses whole, which is all that it translates. A body of
 * many small values takes up to 66 times its length, and beyond the heap's limit the process ends, with all its
 * streams.
 */
export class HeapShare {
  readonly #limitBytes: number;
  #heldBytes = 0;

  constructor(heapBytes: number = getHeapStatistics().heap_size_limit) {
    this.#limitBytes = heapBytes * heapShare;
  }

  /** Whether this can be parsed now beside all that is held. */
  hasRoomFor(size: ParsedSize): boolean {
    return this.#heldBytes + heapBytesOf(size) <= this.#limitBytes;
  }

  /**
   * Counts what a request needs, in place of what it `held` so far. Returns the bytes it holds from now on.
   * @throws GatewayError `too_large` if it needs more than there is, `overloaded` if it does because of others
   */
  hold(size: ParsedSize, held: number): number {
    const bytes = heapBytesOf(size);
    if (bytes > this.#limitBytes) throw tooLarge(size, this.#limitBytes);
    if (bytes > held && this.#heldBytes - held + bytes > this.#limitBytes) throw overloaded();
    this.release(held - bytes);
    return bytes;
  }

  release(bytes: number): void {
    this.#heldBytes -= bytes;
  }
}

function heapBytesOf({ bytes, values }: ParsedSize): number {
  return bytes * bytesPerByte + values * bytesPerValue;
}

function tooLarge({ bytes, values }: ParsedSize, limitBytes: number): GatewayError {
  const [size, limit] = [bytes, limitBytes].map((each) => Math.round(each / 1e6));
  const message =
    `The request is too large to be translated for this provider: ${size} MB with ${values} JSON values do not fit in ${limit} MB. ` +
    'Send fewer or longer blocks, choose a provider of this API, or start Sluice with more memory (NODE_OPTIONS=--max-old-space-size=MB).';
  return new GatewayError('too_large', message);
}

function overloaded(): GatewayError {
  const message =
    'Sluice is translating as many large requests at the same time as its memory allows. Try again later.';
  return new GatewayError('overloaded', message, { retryAfterSeconds });
}
