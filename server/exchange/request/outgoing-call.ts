/** A call to an upstream, the memory that its request holds, and whether it may be repeated. */

import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isPurchase } from '../../apis/core/route.ts';
import type { RouteMatch } from '../../apis/registry.ts';
import type { NextAttempt } from '../../routing/attempt-plan.ts';
import type { CompiledGroup } from '../../routing/snapshot.ts';
import type { ParsedSize } from './heap-share.ts';
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

const headerName = 'idempotency-key';

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
    if (Object.keys(headers).some((name) => name.toLowerCase() === headerName)) return;
    const account = JSON.stringify([provider.id, credential?.id ?? null]);
    const key = this.#keys.get(account) ?? randomUUID();
    this.#keys.set(account, key);
    headers[headerName] = key;
  }
}
