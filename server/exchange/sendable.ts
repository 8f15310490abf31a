import type { Readable } from 'node:stream';

/** A body that can be sent: `open` may be called once per attempt. A Readable that is not wanted must be destroyed. */
export interface Sendable {
  length: number;
  open(): Buffer | Readable;
  /** All of it in memory, to be changed further; not there for uploads. */
  bytes?(): Buffer;
}
