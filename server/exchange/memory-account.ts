/** The memory that one request and its response use, as part of a limit shared by all requests. */
export interface MemoryAccount {
  /** All requests together exceed the limit. */
  readonly isExceeded: boolean;
  /** A negative number releases memory. */
  add(bytes: number): void;
}
