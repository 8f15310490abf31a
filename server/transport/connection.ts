import type { Socket } from 'node:net';
import { boundedPattern } from '../ground/bounded-pattern.ts';
import { type BatchedWrites, batchWrites } from '../ground/fast-paths.ts';

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
  while (rest.length > statusAt && rest[statusAt] === one && beginsWithProtocol(rest)) {
    const end = rest.indexOf(headEnd);
    // undici refuses an unasked change of protocol.
    const isLast = rest.toString('latin1', statusAt, statusAt + switching.length) === switching;
    if (isLast || (end === -1 && rest.length > maxInterimBytes)) return { bytes: rest, isHeld: false };
    if (end === -1) return { bytes: rest, isHeld: true };
    rest = rest.subarray(end + headEnd.length);
  }
  return { bytes: rest, isHeld: rest.length <= statusAt && beginsWithProtocol(rest) };
}

function beginsWithProtocol(bytes: Buffer): boolean {
  const length = Math.min(bytes.length, protocol.length);
  return bytes.compare(protocol, 0, length, 0, length) === 0;
}

const statusLine = boundedPattern(/^HTTP\/1\.[01] \d{3}(?: |$)/);
const headerName = boundedPattern(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$/);
const tlsRecords = new Set([0x15, 0x16]);
/** HTTP/2 begins with a frame of settings, whose length has three bytes. */
const settingsFrame = 0x04;

/**
 * Says what is wrong with the head of an answer that is no valid HTTP/1.1. Nothing of it is repaired: what two parsers read
 * differently lets an upstream hide one answer within another (RFC 9112, 11.1 and 11.2).
 *
 * Null if nothing is wrong with what there is of it, or there is nothing. Completes the sentence "Provider … sent …".
 */
export function problemOfHead(bytes: Buffer, maxBytes: number): string | null {
  if (bytes.length === 0) return null;
  if (tlsRecords.has(bytes[0] ?? 0) && bytes[1] === 3)
    return 'TLS where the address has http:, so it should begin with https:';
  if (bytes[0] === 0 && bytes[3] === settingsFrame) return 'HTTP/2, which was not asked for';
  const text = bytes.toString('latin1', 0, maxBytes);
  const end = text.search(/\r?\n\r?\n/);
  if (end === -1 && bytes.length >= maxBytes) return `headers of more than ${Math.floor(maxBytes / 1024)} kB`;
  const lines = (end === -1 ? text : text.slice(0, end)).split('\n');
  // The last one may not have come whole.
  const whole = end === -1 ? lines.slice(0, -1) : lines;
  const [first, ...headers] = whole;
  if (first === undefined) return startsLikeAnswer(text) ? null : noHttp;
  if (!statusLine.test(first.trimEnd())) return noHttp;
  if (first.startsWith('HTTP/1.1 101') || first.startsWith('HTTP/1.0 101'))
    return 'a change of protocol (101) that was not asked for';
  const endsWell = (line: string, index: number) => line.endsWith('\r') || (end !== -1 && index === whole.length - 1);
  if (!whole.every(endsWell) || text.startsWith('\n', end))
    return 'a head with a line that ends without a carriage return';
  return problemOfHeaders(headers.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line)));
}

function problemOfHeaders(lines: readonly string[]): string | null {
  let lengths = 0;
  let encodings = 0;
  for (const line of lines) {
    if (line.startsWith(' ') || line.startsWith('\t')) return 'a header that is folded over two lines';
    const colon = line.indexOf(':');
    if (colon === -1) return 'a header without a colon';
    const name = line.slice(0, colon);
    if (!headerName.test(name)) return 'a header whose name has a forbidden character';
    if (hasControl(line)) return `a header "${name}" with a forbidden character`;
    lengths += Number(name.toLowerCase() === 'content-length');
    encodings += Number(name.toLowerCase() === 'transfer-encoding');
  }
  if (lengths > 1) return 'the header Content-Length twice';
  return lengths > 0 && encodings > 0 ? 'both Content-Length and Transfer-Encoding' : null;
}

const noHttp = 'something that is no HTTP/1.1';

function startsLikeAnswer(text: string): boolean {
  const beginning = 'HTTP/1.';
  return text.startsWith(beginning) || beginning.startsWith(text);
}

/** Tabs are allowed. */
function hasControl(line: string): boolean {
  for (let index = 0; index < line.length; index++) {
    const code = line.charCodeAt(index);
    if ((code < 0x20 && code !== 0x09) || code === 0x7f) return true;
  }
  return false;
}
