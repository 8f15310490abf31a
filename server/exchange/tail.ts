const tailBytes = 8 * 1024;

/**
 * The last bytes of a reply, where its usage stands. A reply of one chunk costs nothing, nor does a chunk that is long
 * enough by itself; short ones are copied together, so that none of them is kept alive and no upstream can fill the memory.
 */
export class Tail {
  /** All there is to know, if it came as one chunk or the last one was long. */
  #chunk: Buffer | undefined;
  #buffer: Buffer | undefined;
  #length = 0;
  /** Of all that was pushed. */
  totalBytes = 0;

  push(chunk: Buffer): void {
    this.totalBytes += chunk.length;
    const isAll = !this.#chunk && this.#length === 0;
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

  /** `chunk` is at most 8 kB. */
  #append(chunk: Buffer): void {
    this.#buffer ??= Buffer.allocUnsafe(2 * tailBytes);
    if (this.#length + chunk.length > this.#buffer.length) {
      const kept = Math.min(this.#length, tailBytes);
      this.#buffer.copyWithin(0, this.#length - kept, this.#length);
      this.#length = kept;
    }
    this.#length += chunk.copy(this.#buffer, this.#length);
  }
}
