/** The memory that one request and its response use, as part of a limit shared by all requests. */
export interface MemoryAccount {
  /** All requests together exceed the limit. */
  readonly isExceeded: boolean;
  /** A negative number releases memory. */
  add(bytes: number): void;
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
