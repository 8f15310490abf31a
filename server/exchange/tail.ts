const tailBytes = 8 * 1024;
/** So much room that the tail is moved to the front once in many events, and not so much that hundreds of streams feel it. */
const bufferBytes = tailBytes + 2 * 1024;

/** So much of the beginning is kept too: Jina's embeddings tell their usage before the vectors, and a response its status. */
const headBytes = 4 * 1024;
const empty = Buffer.alloc(0);

/**
 * The last bytes of a reply, where its usage stands, and the first ones. A reply of one chunk costs nothing, nor does a chunk that is long
 * enough by itself; short ones are copied together, so that none of them is kept alive and no upstream can fill the memory.
 */
export class Tail {
  /** All there is to know, if it came as one chunk or the last one was long. */
  #chunk: Buffer | undefined;
  #buffer: Buffer | undefined;
  #length = 0;
  #head: Buffer | undefined;
  #headLength = 0;
  /** Of all that was pushed. */
  totalBytes = 0;

  push(chunk: Buffer): void {
    const isAll = this.totalBytes === 0;
    if (!isAll && this.#headLength < headBytes) this.#keepHead(chunk);
    this.totalBytes += chunk.length;
    if (isAll || chunk.length >= tailBytes) {
      this.#chunk = chunk;
      this.#length = 0;
      return;
    }
    if (this.#chunk) this.#append(this.#chunk.subarray(-tailBytes));
    this.#chunk = undefined;
    this.#append(chunk);
  }

  /** At least the last 8 kB, or all there was; at most 16 kB. */
  get bytes(): Buffer {
    if (this.#chunk) return this.#chunk.subarray(-2 * tailBytes);
    return this.#buffer?.subarray(0, this.#length) ?? Buffer.alloc(0);
  }

  /** At most 4 kB; empty where `bytes` is all there was. */
  get head(): Buffer {
    if (this.totalBytes <= this.bytes.length) return empty;
    return this.#head?.subarray(0, this.#headLength) ?? this.#chunk?.subarray(0, headBytes) ?? empty;
  }

  /** Of a reply of more than one chunk, as far as there is room. */
  #keepHead(chunk: Buffer): void {
    if (!this.#head) {
      this.#head = Buffer.allocUnsafe(headBytes);
      const first = this.#chunk ?? this.#buffer?.subarray(0, this.#length) ?? empty;
      this.#headLength = first.copy(this.#head);
    }
    this.#headLength += chunk.copy(this.#head, this.#headLength);
  }

  /** `chunk` is at most 8 kB. */
  #append(chunk: Buffer): void {
    this.#buffer ??= Buffer.allocUnsafe(bufferBytes);
    if (this.#length + chunk.length > this.#buffer.length) {
      const kept = Math.min(this.#length, tailBytes - chunk.length);
      this.#buffer.copyWithin(0, this.#length - kept, this.#length);
      this.#length = kept;
    }
    this.#length += chunk.copy(this.#buffer, this.#length);
  }
}
