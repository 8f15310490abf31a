/** Reads bodies whole, within limits of size and time. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ClientGone } from '../../exchange/request/request-body.ts';
import { type BodySource, bodyTooLarge, codingsOf, decodedBody, stopDecoding } from './content-headers.ts';

/** Bodies of known length up to this consist of few chunks, in shared memory; longer ones have their own. */
export const sharedBytes = 64 * 1024;
/** Bodies of unknown length are counted with this at first, and doubled when full. */
const firstGuessBytes = 64 * 1024;

/** Yields to the event loop after this many bytes; a fast socket would otherwise be read 2 MB at a time. */
const bytesPerTurn = 256 * 1024;

/** Counts the bytes of a body before they are read. */
export interface BodyAccount {
  /** Returns a promise if it has to wait. `hasBegun`: part of the body was read already. */
  reserve(bytes: number, hasBegun: boolean): void | Promise<void>;
  /** Counts additional bytes; a negative number releases them. */
  add(bytes: number): void;
}

interface ReadOptions {
  maxBytes: number;
  account: BodyAccount;
  /** Receives the beginning of a body that broke off or is too long, before its memory is freed. */
  onBroken?: ((start: Buffer) => void) | undefined;
  /** Whether the body is wanted in the client's content coding. */
  isEncoded?: boolean;
}

const none = [] as const;

/** Sends `100 Continue`, if the client waits for it before it sends the body. */
export function sendContinue({ headers, httpVersion }: IncomingMessage, response: ServerResponse): void {
  if (httpVersion === '1.1' && headers.expect?.toLowerCase().includes('100-continue')) response.writeContinue();
}

/**
 * Reads a body into memory, decoded, once `account` has room for it. Throws if it is announced as longer than `maxBytes`, and
 * rejects as soon as it exceeds them.
 */
export function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  { maxBytes, account, onBroken, isEncoded = false }: ReadOptions,
): Promise<Buffer> {
  const { headers } = request;
  const announced = Number(headers['content-length'] ?? 0);
  if (announced > maxBytes) throw bodyTooLarge(maxBytes, announced);
  const codings = isEncoded ? none : codingsOf(headers);
  const isDecoded = codings.length > 0;
  const turn = announced > 0 && !isDecoded ? account.reserve(announced, false) : undefined;
  const gather = () => {
    sendContinue(request, response);
    const isLengthKnown = !isDecoded && headers['transfer-encoding'] === undefined;
    const body = isLengthKnown ? new KnownBody(announced) : new GrowingBody(maxBytes, account);
    const source = isDecoded ? decodedBody(request, codings, maxBytes) : request;
    return readInto(body, source, { maxBytes, onBroken });
  };
  return turn ? turn.then(gather) : gather();
}

interface Gathering {
  /** Takes over the chunk's memory. Returns a promise if the next chunk has to wait. */
  take(chunk: Buffer): void | Promise<void>;
  /** The whole body. */
  whole(): Buffer;
  /** The bytes so far, without a copy. */
  soFar(): Buffer;
  /** Frees the memory. */
  discard(): void;
}

/** Resolves with the whole body; frees its memory if it ends early. */
function readInto(
  body: Gathering,
  source: BodySource,
  { maxBytes, onBroken }: Pick<ReadOptions, 'maxBytes' | 'onBroken'>,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let isOver = false;
    let size = 0;
    let nextPause = bytesPerTurn;
    const resume = () => source.resume();
    const giveUp = (error: unknown) => {
      if (isOver) return;
      isOver = true;
      source.off('data', onData);
      stopDecoding(source);
      onBroken?.(body.soFar());
      body.discard();
      reject(error);
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) return giveUp(bodyTooLarge(maxBytes, size));
      const room = body.take(chunk);
      if (!room && size < nextPause) return;
      nextPause = size + bytesPerTurn;
      source.pause();
      if (room) room.then(resume, giveUp);
      else setImmediate(resume);
    };
    source.on('data', onData);
    source.on('end', () => {
      if (isOver) return;
      isOver = true;
      resolve(body.whole());
    });
    source.on('error', giveUp);
    source.on('close', () => {
      if (!source.complete) giveUp(new ClientGone());
    });
  });
}

/**
 * Copies chunks into memory allocated in advance, so that each chunk's memory can be reused: keeping thousands of chunks
 * fragments the heap.
 */
class KnownBody implements Gathering {
  readonly #bytes: Buffer | null;
  #first: Buffer = empty;
  #more: Buffer[] = [];
  #size = 0;

  constructor(length: number) {
    this.#bytes = length > sharedBytes ? allocate(length) : null;
  }

  take(chunk: Buffer): void {
    if (this.#bytes) {
      chunk.copy(this.#bytes, this.#size);
      this.#size += chunk.length;
      releaseChunk(chunk);
    } else if (this.#first.length === 0) this.#first = chunk;
    else this.#more.push(chunk);
  }

  whole(): Buffer {
    return this.#bytes ?? (this.#more.length === 0 ? this.#first : Buffer.concat([this.#first, ...this.#more]));
  }

  soFar(): Buffer {
    return this.#bytes?.subarray(0, this.#size) ?? this.whole();
  }

  discard(): void {
    if (this.#bytes) releaseBody(this.#bytes);
  }
}

/** A body of unknown length: the allocation doubles whenever it is full. */
class GrowingBody implements Gathering {
  readonly #maxBytes: number;
  readonly #account: BodyAccount;
  #bytes: Buffer = empty;
  #size = 0;

  constructor(maxBytes: number, account: BodyAccount) {
    this.#maxBytes = maxBytes;
    this.#account = account;
  }

  take(chunk: Buffer): void | Promise<void> {
    const missing = this.#size + chunk.length - this.#bytes.length;
    if (missing <= 0) return this.#append(chunk);
    const more = Math.max(missing, Math.min(Math.max(firstGuessBytes, this.#bytes.length), this.#room));
    const turn = this.#account.reserve(more, this.#size > 0);
    if (!turn) return this.#grow(more, chunk);
    return turn.then(() => this.#grow(more, chunk));
  }

  whole(): Buffer {
    this.#account.add(this.#size - this.#bytes.length);
    this.#resize(this.#size);
    return this.#bytes;
  }

  soFar(): Buffer {
    return this.#bytes.subarray(0, this.#size);
  }

  discard(): void {
    releaseChunk(this.#bytes);
  }

  get #room(): number {
    return this.#maxBytes - this.#bytes.length;
  }

  #grow(more: number, chunk: Buffer): void {
    this.#resize(this.#bytes.length + more);
    this.#append(chunk);
  }

  #append(chunk: Buffer): void {
    this.#size += chunk.copy(this.#bytes, this.#size);
    releaseChunk(chunk);
  }

  #resize(length: number): void {
    if (length === this.#bytes.length) return;
    const bytes = Buffer.allocUnsafeSlow(length);
    this.#bytes.copy(bytes, 0, 0, this.#size);
    releaseChunk(this.#bytes);
    this.#bytes = bytes;
  }
}

/**
 * glibc caches freed memory in blocks of up to 32 MB (M_MMAP_THRESHOLD), hundreds of MB after many bodies. Larger blocks are
 * mapped separately and returned at once; untouched pages cost nothing. Since V8 counts the whole block as external memory
 * and collects garbage sooner, this is done for large bodies only.
 */
const keptBytes = 32 * 1024 * 1024;
const ownPagesFromBytes = 8 * 1024 * 1024;

function allocate(length: number): Buffer {
  const isKept = process.platform === 'linux' && length >= ownPagesFromBytes && length <= keptBytes;
  return isKept ? Buffer.allocUnsafeSlow(keptBytes + 1).subarray(0, length) : Buffer.allocUnsafeSlow(length);
}

const empty = Buffer.alloc(0);

/**
 * Frees the memory of a chunk immediately; it is empty afterwards. The garbage collector would let the chunks of large bodies
 * pile up to some 64 MB first.
 *
 * Never call it for a chunk that native code may still read: one being written to a socket or file.
 */
export function releaseChunk({ buffer, byteLength }: Buffer): void {
  // Only if the chunk is the only user of its memory.
  if (byteLength > 0 && buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}

/** The same for a body that owns its memory, even if it does not fill it. */
export function releaseBody({ buffer, byteLength }: Buffer): void {
  if (byteLength > 0 && buffer instanceof ArrayBuffer) buffer.transfer(0);
}
