/**
 * The fast paths: optimisations that go behind the back of Node, undici and V8. They are used through this door alone,
 * which has one switch for all of them (`SLUICE_FAST_PATHS=off`): without them everything works as usual and costs
 * more, so that it can be told whether one of them is at fault, for example with a new version of Node.
 * `docs/operation.md` says what each is worth.
 */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { every } from './timers.ts';

let areOn = true;

/** For the whole process: for connections that are opened from now on, and for all pieces. */
export function switchFastPaths(isWanted: boolean): void {
  areOn = isWanted;
}

/** Of a process that only serves; takes effect for all of it. */
export function tuneV8(): void {
  if (!areOn) return;
  limitYoungGeneration();
  raiseHeapGrowth();
}

/** Makes the small writes to connected sockets together. */
export function batchWrites(socket: Socket, options: BatchOptions = {}): BatchedWrites {
  return areOn ? new DelayedWrites(socket, options) : new DirectWrites(socket, options);
}

/** Overwrites the memory between the pieces of one read. */
export function joinPieces(pieces: readonly [Buffer, ...Buffer[]]): Buffer {
  return areOn ? joinInPlace(pieces) : Buffer.concat(pieces);
}

/** Like `response.write`. `isFirst`: none of the body has been written, so the head may still have to be sent. */
export function writePiece(response: ServerResponse, bytes: Buffer, isFirst: boolean): boolean {
  return areOn ? writeAsText(response, bytes, isFirst) : response.write(bytes);
}

/** Like `response.end`. */
export function endWith(response: ServerResponse, last: Buffer | undefined): void {
  if (areOn) endAsText(response, last);
  else response.end(last);
}

// Bytes in as few pieces as possible: of what is read, and of what is written. Node passes several pieces of a
// response to `writev`, or to the socket one by one, and either costs more than copying a few kilobytes. So they are
// copied into a Latin-1 string, with one character for each byte, because Node concatenates strings itself.

/**
 * Joins the pieces into which undici divides one read of a chunked response. They lie in that read's memory in order, with
 * only the framing of chunks between them, and are moved together there. While they were copied into memory of their own,
 * every read took twice the memory outside of V8's heap, whose growth makes V8 collect the old generation: at full speed
 * nine times a second instead of never, which cost a quarter of the throughput.
 *
 * Overwrites the memory between the first piece and the end of the last, unless the pieces are not of one read.
 */
export function joinInPlace(pieces: readonly [Buffer, ...Buffer[]]): Buffer {
  if (!areOfOneRead(pieces)) return Buffer.concat(pieces);
  const { buffer, byteOffset } = pieces[0];
  const memory = new Uint8Array(buffer);
  let end = byteOffset;
  for (const piece of pieces) {
    memory.set(piece, end);
    end += piece.length;
  }
  return Buffer.from(buffer, byteOffset, end - byteOffset);
}

function areOfOneRead(pieces: readonly [Buffer, ...Buffer[]]): boolean {
  const { buffer } = pieces[0];
  // Small buffers share the memory of Node's pool, where something else may lie between two of them.
  if (buffer.byteLength === Buffer.poolSize) return false;
  let end = 0;
  return pieces.every((piece) => {
    const isNext = piece.buffer === buffer && piece.byteOffset >= end;
    end = piece.byteOffset + piece.length;
    return isNext;
  });
}

/** For longer pieces, the copy costs more than it saves. In bytes. */
const maxTextBytes = 8 * 1024;

/**
 * Like `response.write`, which writes each piece of a chunked response as four: length, line end, bytes, line end.
 * Written as one, an event of a stream costs 9 % less CPU in total.
 *
 * `isFirst`: none of the body has been written, so the head may still have to be sent.
 */
function writeAsText(response: ServerResponse, bytes: Buffer, isFirst: boolean): boolean {
  const { socket } = response;
  const isShort = bytes.length > 0 && bytes.length <= maxTextBytes;
  // A piece this short cannot fill an empty socket buffer; `response.write` handles back-pressure in all other cases.
  if (isFirst || !isShort || !socket?.writable || socket.writableLength > 0 || !response.chunkedEncoding) {
    return response.write(bytes);
  }
  socket.write(`${bytes.length.toString(16)}\r\n${bytes.toString('latin1')}\r\n`, 'latin1');
  return true;
}

/** Like `response.end`. Node sends a head and a string in one write. */
function endAsText(response: ServerResponse, last: Buffer | undefined): void {
  if (last && last.length <= maxTextBytes) response.end(last.toString('latin1'), 'latin1');
  else response.end(last);
}

// Collects the small writes to sockets during one turn of the event loop, and makes them one after another before
// the loop waits again. A write to a socket wakes the process that reads it, if that sleeps. While writes are spread
// over a turn, each reader falls asleep between them and is woken again, which costs as much as the write itself;
// after writes in a row it is woken once. Redis does the same (`handleClientsWithPendingWrites`). Measured with 32
// connections and with 200 streams: 10 % less CPU, and no event is late, because all are written earlier than the
// last one would have been.

/** Larger writes are made at once: most of their cost is copying. A read of a socket returns at most this much. */
const largestBytes = 64 * 1024 - 1;

type Done = (error?: Error | null) => void;
type Chunks = Parameters<NonNullable<Socket['_writev']>>[0];

let waiting: DelayedWrites[] = [];
let isFlushing = false;

/** What was written to a socket, beyond what the socket itself tells. */
export interface BatchedWrites {
  /** Whether anything has been given to the system since `begin`. */
  readonly hasWritten: boolean;
  begin(): void;
}

interface BatchOptions {
  /** The socket broke: what has not been given to the system by then is not sent any more. */
  dropsOnError?: boolean;
}

/** Batches the writes to a connected socket, until it is destroyed. A socket has at most one unfinished write: `Writable` calls `_write` or `_writev` again after the last is done. */
export class DelayedWrites implements BatchedWrites {
  hasWritten = false;
  #makeWrite: (() => void) | null = null;

  constructor(socket: Socket, { dropsOnError = false }: BatchOptions) {
    const write = socket._write;
    const writev = socket._writev;
    const destroy = socket.destroy;
    socket._write = (chunk: Buffer | string, encoding: BufferEncoding, done: Done) => {
      if (isFlushing || chunk.length > largestBytes) {
        this.hasWritten = true;
        write.call(socket, chunk, encoding, done);
      } else this.#delay(() => write.call(socket, chunk, encoding, done));
    };
    if (writev) {
      socket._writev = (chunks: Chunks, done: Done) => {
        if (isFlushing || lengthOf(chunks) > largestBytes) {
          this.hasWritten = true;
          writev.call(socket, chunks, done);
        } else this.#delay(() => writev.call(socket, chunks, done));
      };
    }
    // What was written before a socket is destroyed reaches its reader.
    socket.destroy = (error?: Error) => {
      if (dropsOnError && error) this.#makeWrite = null;
      else flushOne(this);
      return destroy.call(socket, error);
    };
  }

  begin(): void {
    this.hasWritten = false;
  }

  /** Makes the delayed write, and then those that have been waiting for it. */
  flush(): void {
    const makeWrite = this.#makeWrite;
    this.#makeWrite = null;
    if (!makeWrite) return;
    this.hasWritten = true;
    makeWrite();
  }

  #delay(makeWrite: () => void): void {
    this.#makeWrite = makeWrite;
    if (waiting.push(this) === 1) setImmediate(flushAll);
  }
}

/**
 * Makes each write at once; only the first of a request waits for the next turn where the socket may turn out to be broken
 * (`dropsOnError`), so that such a request is still known to be unsent.
 */
class DirectWrites implements BatchedWrites {
  hasWritten = false;

  constructor(socket: Socket, { dropsOnError = false }: BatchOptions) {
    const { _write: write, _writev: writev } = socket;
    const make = (makeWrite: () => void) => {
      const isFirst = !this.hasWritten && dropsOnError;
      const now = () => {
        this.hasWritten = true;
        makeWrite();
      };
      if (isFirst) setImmediate(() => socket.destroyed || now());
      else now();
    };
    socket._write = (chunk: Buffer | string, encoding: BufferEncoding, done: Done) =>
      make(() => write.call(socket, chunk, encoding, done));
    if (writev) socket._writev = (chunks: Chunks, done: Done) => make(() => writev.call(socket, chunks, done));
  }

  begin(): void {
    this.hasWritten = false;
  }
}

function flushAll(): void {
  const delayed = waiting;
  waiting = [];
  for (const writes of delayed) flushOne(writes);
}

function flushOne(writes: DelayedWrites): void {
  const wasFlushing = isFlushing;
  isFlushing = true;
  try {
    writes.flush();
  } catch (error) {
    // A listener for `drain` threw. It must not keep the other sockets from being written to.
    process.nextTick(() => {
      throw error;
    });
  }
  isFlushing = wasFlushing;
}

function lengthOf(chunks: Chunks): number {
  let length = 0;
  for (const { chunk } of chunks) length += chunk.length;
  return length;
}

// Settings of V8 that suit a gateway. They hold for the whole process, and users should not have to write them.

/** Total size of both semi-spaces. */
const maxBytes = 32 * 1024 * 1024;
/**
 * V8 shrinks the young generation at the first collection after a pause, when requests come again. At its smallest it
 * is collected every 2 ms, and a request takes a quarter more CPU, until it may grow. A check takes 20 µs.
 */
const shrunkCheckMs = 500;

/**
 * Keeps V8's young generation at a size that suits a gateway. V8 doubles it, up to 128 MB in Node 24, whenever enough
 * objects survive a collection, as the buffers of 200 streams do. Above 32 MB this costs memory and longer pauses and
 * saves no CPU; with 16 MB a plain request takes 5 % more. `--max-semi-space-size=16` on Node's command line has the
 * same effect.
 *
 * Takes effect for the whole process. V8 reads the flag each time the young generation could grow. V8 also shrinks the
 * young generation in idle times, so it must be allowed to grow again. Under load, when it has its full size,
 * collections are not observed: that would take 3 % of a plain request's CPU. Returns the function that undoes this.
 */
export function limitYoungGeneration(): () => void {
  let timer: NodeJS.Timeout | undefined;
  const collections = new PerformanceObserver(() => {
    if (youngBytes() >= maxBytes) hold();
  });
  const allow = () => {
    clearInterval(timer);
    setFlagsFromString('--semi-space-growth-factor=2');
  };
  const hold = () => {
    collections.disconnect();
    setFlagsFromString('--semi-space-growth-factor=1');
    timer = every(() => {
      if (youngBytes() < maxBytes) watch();
    }, shrunkCheckMs).unref();
  };
  const watch = () => {
    allow();
    collections.observe({ entryTypes: ['gc'] });
  };
  watch();
  return () => {
    collections.disconnect();
    allow();
  };
}

function youngBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')?.space_size ?? 0;
}

/**
 * Lets V8's old generation grow to four times its live size before it is collected, at any time. By default V8 allows that
 * under load only; after a pause it allows a few MB. Then the first streams met a collection, which delayed the first
 * events of 200 of them by 45 ms instead of 2 to 4 at the last percentile. Twice the live size saves 25 MB, but at full
 * speed, where buffers count towards it, streams met twelve collections a second instead of none and passed half the bytes.
 * `--heap-growing-percent=300` on Node's command line has the same effect. Takes effect from the next collection on.
 */
export function raiseHeapGrowth(): void {
  setFlagsFromString('--heap-growing-percent=300');
}
