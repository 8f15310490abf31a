import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError } from '../../contract/errors.ts';
import { releaseBody, releaseChunk } from './release-chunk.ts';

/** A body of known length up to here is one chunk, or few, in memory that others may have a part of; longer ones are alone. */
export const sharedBytes = 64 * 1024;
/** What one of unknown length counts as at first; then it doubles. */
const firstGuessBytes = 64 * 1024;

/** Then others get their turn: a socket that is always full would be read 2 MB at a stretch, and so each of many. */
const bytesPerTurn = 256 * 1024;

/** Where the bytes of a body are counted before they are read. */
export interface BodyAccount {
  /** To be waited for where it answers with a promise. `hasBegun`: some of the body are there already. */
  reserve(bytes: number, hasBegun: boolean): void | Promise<void>;
  /** What is kept besides; less than nothing gives back. */
  add(bytes: number): void;
}

/** To be called before a body is read: a client may wait for this word before it sends one. */
export function sendContinue({ headers, httpVersion }: IncomingMessage, response: ServerResponse): void {
  if (httpVersion === '1.1' && headers.expect?.toLowerCase().includes('100-continue')) response.writeContinue();
}

/**
 * Gathers a body in memory, once `account` has room for it. Throws at once where it is announced as longer than
 * `maxBytes`, and rejects as soon as it turns out to be.
 */
export function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  maxBytes: number,
  account: BodyAccount,
): Promise<Buffer> {
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > maxBytes) throw tooLarge(maxBytes, announced);
  const turn = announced > 0 ? account.reserve(announced, false) : undefined;
  const gather = () => {
    sendContinue(request, response);
    const isLengthKnown = request.headers['transfer-encoding'] === undefined;
    return readInto(isLengthKnown ? new KnownBody(announced) : new GrowingBody(maxBytes, account), request, maxBytes);
  };
  return turn ? turn.then(gather) : gather();
}

interface Gathering {
  /** The chunk is its to give back. A promise: to be waited for before the next. */
  take(chunk: Buffer): void | Promise<void>;
  /** All of it. */
  whole(): Buffer;
  /** Gives the memory back. */
  discard(): void;
}

/** Resolves with all of the body; gives its memory back where it does not come to its end. */
function readInto(body: Gathering, request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let isOver = false;
    let size = 0;
    let nextPause = bytesPerTurn;
    const resume = () => request.resume();
    const giveUp = (error: unknown) => {
      if (isOver) return;
      isOver = true;
      request.off('data', onData);
      body.discard();
      reject(error);
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) return giveUp(tooLarge(maxBytes, size));
      const room = body.take(chunk);
      if (!room && size < nextPause) return;
      nextPause = size + bytesPerTurn;
      request.pause();
      if (room) room.then(resume, giveUp);
      else setImmediate(resume);
    };
    request.on('data', onData);
    request.on('end', () => {
      if (isOver) return;
      isOver = true;
      resolve(body.whole());
    });
    request.on('error', giveUp);
    request.on('close', () => {
      if (!request.complete) giveUp(new ClientGone());
    });
  });
}

/**
 * Copied together as it comes, into memory that was counted before, so that the memory of one chunk serves for the next:
 * thousands of chunks of a long body would leave holes behind that the system never gets back.
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

  discard(): void {
    if (this.#bytes) releaseBody(this.#bytes);
  }
}

/** Of unknown length: what is counted and set aside doubles whenever it is full. */
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
 * glibc keeps what is freed for later, in pieces of up to 32 MB: hundreds of MB after many bodies. What is longer has pages
 * of its own, which go back at once; those that nothing is written to cost nothing. V8 counts them all the same and
 * collects the sooner, so this is for bodies that are dear anyway.
 */
const keptBytes = 32 * 1024 * 1024;
const ownPagesFromBytes = 8 * 1024 * 1024;

function allocate(length: number): Buffer {
  const isKept = process.platform === 'linux' && length >= ownPagesFromBytes && length <= keptBytes;
  return isKept ? Buffer.allocUnsafeSlow(keptBytes + 1).subarray(0, length) : Buffer.allocUnsafeSlow(length);
}

const empty = Buffer.alloc(0);

/** The client hung up before its request was complete: nobody is left to answer. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
}

export function tooLarge(maxBytes: number, bytes: number): GatewayError {
  return new GatewayError('too_large', `Maximum content size limit (${maxBytes}) exceeded (${bytes} bytes read).`);
}
