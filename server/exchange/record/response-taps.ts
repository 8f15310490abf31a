/** Who watches a response, at the client's side and at the upstream's, and what is kept of its bytes. */

import type { KeptAnswer, WholeAnswer } from '../../apis/core/wire.ts';
import type { MaybePromise } from '../../ground/promises.ts';
import type { ResponseHeaders } from '../../transport/transport.ts';

export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Observes a client's response as it is sent, without changing it. */
export interface ClientResponseTap {
  begin(status: number, headers: Headers): void;
  /** The caller may reuse the bytes once the call has returned. */
  take(bytes: Buffer): void;
}

/** Null if there are none, so that the usual response costs only a comparison. */
export function joinTaps(taps: readonly (ClientResponseTap | null)[]): ClientResponseTap | null {
  const present = taps.filter((tap) => tap !== null);
  const [first = null, ...others] = present;
  if (others.length === 0) return first;
  return {
    begin: (status, headers) => {
      for (const tap of present) tap.begin(status, headers);
    },
    take: (bytes) => {
      for (const tap of present) tap.take(bytes);
    },
  };
}

/** Observes each byte of the response before the client gets it, without changing it. */
export interface UpstreamResponseObserver {
  begin(status: number, contentType: string, headers: ResponseHeaders): void;
  /** If it returns a promise, which never rejects, the chunk must not reach the client before that has settled. */
  take(chunk: Buffer): MaybePromise<void>;
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/** Whether a JSON object may end with this chunk. */
export function endsInBrace(chunk: Buffer): boolean {
  return chunk
    .toString('latin1', Math.max(0, chunk.length - 16))
    .trimEnd()
    .endsWith('}');
}

const tailBytes = 8 * 1024;
/** Large enough that the tail is rarely moved to the front, and small enough for hundreds of streams. */
const bufferBytes = tailBytes + 2 * 1024;

/**
 * How much of the beginning is kept: a response object has its status there, and usage may precede the vectors of
 * embeddings.
 */
const headBytes = 4 * 1024;
/** Of a stream whose first event is longer, such as a `message_start` of Anthropic's, whose usage comes last. */
const longHeadBytes = 64 * 1024;
/** How much is kept of the line in which the tail begins: an event longer than the tail may report its usage first. */
const lineBytes = 2 * 1024;
const lineFeed = 0x0a;
const eventEnds = ['\n\n', '\r\n\r\n'].map((end) => Buffer.from(end));
const firstBytesOfStreams = new Set(Buffer.from('edi:'));
const empty = Buffer.alloc(0);

/**
 * Keeps the first and the last bytes of a response, where usage is reported. A response of one chunk, or a sufficiently
 * long last chunk, is kept by reference. Short chunks are copied, so that they do not keep the connection's buffers alive
 * and memory stays bounded.
 */
export class ResponseExcerpt {
  /** The only buffer needed, if the response came as one chunk or the last chunk was long. */
  #chunk: Buffer | undefined;
  #buffer: Buffer | undefined;
  #length = 0;
  #head: Buffer | undefined;
  #headLength = 0;
  #isHeadFull = false;
  #line: Buffer | undefined;
  #lineLength = 0;
  #document: WholeAnswer['document'];
  /** Length of the response, as far as it was pushed. */
  totalBytes = 0;

  push(chunk: Buffer): void {
    const isAll = this.totalBytes === 0;
    if (!isAll && !this.#isHeadFull) this.#keepHead(chunk);
    this.totalBytes += chunk.length;
    if (isAll || chunk.length >= tailBytes) {
      this.#drop(this.#chunk ?? this.#buffered());
      this.#chunk = chunk;
      this.#length = 0;
      return;
    }
    if (this.#chunk) {
      this.#drop(this.#chunk.subarray(0, -tailBytes));
      this.#append(this.#chunk.subarray(-tailBytes));
    }
    this.#chunk = undefined;
    this.#append(chunk);
  }

  /** Replaces what was pushed by the whole response, which may have been compressed or have come in pieces. */
  keepWhole({ plain, document }: WholeAnswer): void {
    this.#document = document;
    this.#chunk = plain;
    this.#length = 0;
    this.#head = undefined;
    this.#lineLength = 0;
    this.totalBytes = plain.length;
  }

  /** At least the last 8 kB, or everything if it is shorter; at most 16 kB. */
  get tail(): Buffer {
    const chunk = this.#chunk;
    if (chunk) return chunk.length > 2 * tailBytes ? chunk.subarray(-2 * tailBytes) : chunk;
    return this.#buffered();
  }

  /** At most 4 kB, or a stream's first event; empty if `tail` holds the whole response. */
  get head(): Buffer {
    if (this.totalBytes <= this.tail.length) return empty;
    if (this.#head) return this.#head.subarray(0, this.#headLength);
    const beginning = this.#chunk?.subarray(0, headBytes) ?? empty;
    return endsInFirstEvent(beginning) ? (this.#chunk?.subarray(0, longHeadBytes) ?? empty) : beginning;
  }

  /** What is kept of the response, once all of it was pushed. */
  kept(contentType: string): KeptAnswer {
    if (this.#chunk && this.#chunk.length > 2 * tailBytes) this.#drop(this.#chunk.subarray(0, -2 * tailBytes));
    const isWhole = this.#chunk !== undefined && this.#chunk.length === this.totalBytes;
    return {
      tail: this.tail,
      head: this.head,
      line: this.#line?.subarray(0, this.#lineLength) ?? empty,
      whole: isWhole ? this.#chunk : undefined,
      document: this.#document,
      bytes: this.totalBytes,
      contentType,
    };
  }

  /** For responses of more than one chunk, as far as there is room. */
  #keepHead(chunk: Buffer): void {
    if (!this.#head) this.#addToHead(this.#chunk ?? this.#buffered());
    this.#addToHead(chunk);
  }

  #addToHead(bytes: Buffer): void {
    let head = this.#head ?? Buffer.allocUnsafe(headBytes);
    let rest = bytes;
    while (!this.#isHeadFull && rest.length > 0) {
      const copied = rest.copy(head, this.#headLength);
      this.#headLength += copied;
      rest = rest.subarray(copied);
      if (this.#headLength < head.length) break;
      this.#isHeadFull = head.length === longHeadBytes || !endsInFirstEvent(head);
      if (!this.#isHeadFull) head = Buffer.concat([head], longHeadBytes);
    }
    this.#head = head;
  }

  #buffered(): Buffer {
    return this.#buffer?.subarray(0, this.#length) ?? empty;
  }

  /** Called with the bytes that leave the tail. */
  #drop(bytes: Buffer): void {
    if (bytes.length === 0) return;
    const lineEnd = bytes.lastIndexOf(lineFeed);
    if (lineEnd !== -1) this.#lineLength = 0;
    this.#line ??= Buffer.allocUnsafe(lineBytes);
    this.#lineLength += bytes.subarray(lineEnd + 1).copy(this.#line, this.#lineLength);
  }

  /** `chunk` is at most 8 kB. */
  #append(chunk: Buffer): void {
    this.#buffer ??= Buffer.allocUnsafe(bufferBytes);
    if (this.#length + chunk.length > this.#buffer.length) {
      const keptLength = Math.min(this.#length, tailBytes - chunk.length);
      this.#drop(this.#buffer.subarray(0, this.#length - keptLength));
      this.#buffer.copyWithin(0, this.#length - keptLength, this.#length);
      this.#length = keptLength;
    }
    this.#length += chunk.copy(this.#buffer, this.#length);
  }
}

/** Whether this is the beginning of a stream, and goes no further than its first event. */
function endsInFirstEvent(beginning: Buffer): boolean {
  return firstBytesOfStreams.has(beginning[0] ?? 0) && !eventEnds.some((end) => beginning.includes(end));
}
