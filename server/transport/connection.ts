import type { Socket } from 'node:net';
import { type BatchedWrites, batchWrites } from '../ground/batched-writes.ts';
import { problemOfHead } from './problem-of-head.ts';

/** The longest head of an answer. */
export const maxHeadBytes = 64 * 1024;
/** The longest one of an interim answer. */
const maxInterimBytes = 8 * 1024;

/** What has one connection at a time, and a new one once that is closed. */
export interface Line {
  connection: Connection | null;
}

/** A call that has to know the connection it runs on. */
export interface ConnectionWatch {
  runsOn(line: Line): void;
}

export function watchesConnection<T extends object>(call: T): call is T & ConnectionWatch {
  return 'runsOn' in call;
}

/** A connection to an upstream, with what undici does not tell of it. It carries one request at a time. */
export class Connection {
  readonly #writes: BatchedWrites;
  #requests = 0;
  /** What has come of the head of the awaited answer; null: the head is whole. */
  #head: Buffer[] | null = null;
  /** The beginning of an interim answer. */
  #held: Buffer | null = null;

  constructor(socket: Socket) {
    this.#writes = batchWrites(socket, { dropsOnError: true });
    const read = socket.read;
    socket.read = (size?: number) => {
      const bytes: Buffer | null = read.call(socket, size);
      return bytes === null || this.#head === null ? bytes : this.#ofHead(bytes, this.#head);
    };
  }

  /** A request is about to be written. */
  begin(): void {
    this.#requests++;
    this.#writes.begin();
    this.#head = [];
    this.#held = null;
  }

  /** The head of the answer is whole. */
  answered(): void {
    this.#head = null;
  }

  /** Earlier requests were sent over it. */
  get isReused(): boolean {
    return this.#requests > 1;
  }

  /** Nothing of the latest request has been sent. */
  get isUnsent(): boolean {
    return !this.#writes.hasWritten;
  }

  /** Nothing of the answer has come. */
  get isSilent(): boolean {
    return this.#head?.length === 0;
  }

  /** Why the answer cannot be read; null: nothing is wrong with what came of its head. */
  problemOfHead(): string | null {
    return this.#head === null ? null : problemOfHead(Buffer.concat(this.#head), maxHeadBytes);
  }

  /**
   * Leaves out interim answers (1xx): undici takes an unasked 100 for an error, although a client must be able to read any
   * number of them (RFC 9110, 15.2). Null if more has to come.
   */
  #ofHead(bytes: Buffer, head: Buffer[]): Buffer | null {
    if (head.length > 0) {
      head.push(bytes);
      return bytes;
    }
    const rest = withoutInterim(this.#held === null ? bytes : Buffer.concat([this.#held, bytes]));
    this.#held = rest.isHeld ? rest.bytes : null;
    if (rest.isHeld) return null;
    head.push(rest.bytes);
    return rest.bytes;
  }
}

const protocol = Buffer.from('HTTP/1.');
const headEnd = Buffer.from('\r\n\r\n');
/** Where the status begins, after `HTTP/1.1 `. */
const statusAt = 9;
const one = 0x31;
const switching = '101';

/** `isHeld`: they may be the beginning of an interim answer. */
function withoutInterim(bytes: Buffer): { bytes: Buffer; isHeld: boolean } {
  let rest = bytes;
  while (rest.length > statusAt && rest[statusAt] === one && startsLikeAnswer(rest)) {
    const end = rest.indexOf(headEnd);
    // undici refuses an unasked change of protocol.
    const isLast = rest.toString('latin1', statusAt, statusAt + switching.length) === switching;
    if (isLast || (end === -1 && rest.length > maxInterimBytes)) return { bytes: rest, isHeld: false };
    if (end === -1) return { bytes: rest, isHeld: true };
    rest = rest.subarray(end + headEnd.length);
  }
  return { bytes: rest, isHeld: rest.length <= statusAt && startsLikeAnswer(rest) };
}

function startsLikeAnswer(bytes: Buffer): boolean {
  const length = Math.min(bytes.length, protocol.length);
  return bytes.compare(protocol, 0, length, 0, length) === 0;
}
