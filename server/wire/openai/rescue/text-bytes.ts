/** Some 128,000 tokens: models say no more in one answer. */
const maxBytes = 512 * 1024;
const smallestBlockBytes = 1024;
const largestBlockBytes = 64 * 1024;
const noBlock = Buffer.alloc(0);

/** A text put together of pieces of the insides of JSON strings, which are decoded only if it is asked for. */
export class TextBytes {
  /** None is copied into a larger one: what that leaves behind, the system does not get back. */
  #blocks: Buffer[] = [];
  /** The last of them, and how much of it is used. */
  #block = noBlock;
  #used = 0;
  #length = 0;

  /** The bytes of `from` between `start` and `end`. False once it is too long to be held. */
  append(from: Buffer, start: number, end: number): boolean {
    this.#length += end - start;
    if (this.#length > maxBytes) {
      this.#blocks = [];
      this.#block = noBlock;
      return false;
    }
    for (let at = start; at < end; ) {
      if (this.#used === this.#block.length) this.#addBlock();
      const copied = from.copy(this.#block, this.#used, at, end);
      this.#used += copied;
      at += copied;
    }
    return true;
  }

  appendText(text: string): boolean {
    const inside = Buffer.from(JSON.stringify(text).slice(1, -1));
    return this.append(inside, 0, inside.length);
  }

  /** Null where it was too long. */
  read(): string | null {
    if (this.#length > maxBytes) return null;
    return String(JSON.parse(`"${Buffer.concat(this.#blocks, this.#length).toString('utf8')}"`));
  }

  #addBlock(): void {
    this.#block = Buffer.allocUnsafe(Math.min(Math.max(this.#length, smallestBlockBytes), largestBlockBytes));
    this.#blocks.push(this.#block);
    this.#used = 0;
  }
}
