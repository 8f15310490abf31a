/** The memory that one request and its response use, as part of limits shared by all requests. */
import type { ParsedSize } from './heap-share.ts';

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

/** The share of one response. */
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
