const tailBytes = 8 * 1024;

/**
 * The last bytes of a reply, where its usage stands. A reply of one chunk costs nothing; longer ones are copied into a
 * fixed buffer, so that no upstream can fill the memory and no chunk is kept alive.
 */
export class Tail {
  #first: Buffer | undefined;
  #buffer: Buffer | undefined;
  #length = 0;

  push(chunk: Buffer): void {
    if (!this.#first) {
      this.#first = chunk;
      return;
    }
    if (!this.#buffer) {
      this.#buffer = Buffer.allocUnsafe(2 * tailBytes);
      this.#append(this.#first);
    }
    this.#append(chunk);
  }

  /** At least the last 8 kB, or all there was; at most 16 kB. */
  get bytes(): Buffer {
    if (this.#buffer) return this.#buffer.subarray(0, this.#length);
    return this.#first?.subarray(-2 * tailBytes) ?? Buffer.alloc(0);
  }

  #append(chunk: Buffer): void {
    const buffer = this.#buffer;
    if (!buffer) return;
    if (this.#length + chunk.length > buffer.length) {
      const kept = Math.min(this.#length, tailBytes);
      buffer.copyWithin(0, this.#length - kept, this.#length);
      this.#length = kept;
    }
    const room = buffer.length - this.#length;
    if (chunk.length > room) {
      chunk.copy(buffer, 0, Math.max(0, chunk.length - buffer.length));
      this.#length = Math.min(chunk.length, buffer.length);
      return;
    }
    chunk.copy(buffer, this.#length);
    this.#length += chunk.length;
  }
}
