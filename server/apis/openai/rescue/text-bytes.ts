/** About 128,000 tokens, the output limit of today's largest models. */
const maxBytes = 512 * 1024;
const smallestBlockBytes = 1024;
const largestBlockBytes = 64 * 1024;
/** A loop over so few bytes costs less than a call of the native copy. */
const shortBytes = 24;
const noBlock = Buffer.alloc(0);

/** A text collected as pieces of escaped JSON string content, and decoded only when it is read. */
export class TextBytes {
  /** Blocks are not merged into larger ones, because freed buffers are not returned to the system. */
  #blocks: Buffer[] = [];
  /** The last block, and how much of it is used. */
  #block = noBlock;
  #usedBytes = 0;
  #length = 0;

  /** Appends the bytes of `from` between `start` and `end`. False once the text is too long to be held. */
  append(from: Buffer, start: number, end: number): boolean {
    this.#length += end - start;
    if (this.#length > maxBytes) {
      this.#blocks = [];
      this.#block = noBlock;
      return false;
    }
    if (end - start <= shortBytes && end - start <= this.#block.length - this.#usedBytes)
      this.#appendShort(from, start, end);
    else this.#appendLong(from, start, end);
    return true;
  }

  #appendShort(from: Buffer, start: number, end: number): void {
    const block = this.#block;
    let usedBytes = this.#usedBytes;
    for (let at = start; at < end; at++) block[usedBytes++] = from[at] ?? 0;
    this.#usedBytes = usedBytes;
  }

  #appendLong(from: Buffer, start: number, end: number): void {
    for (let at = start; at < end; ) {
      if (this.#usedBytes === this.#block.length) this.#addBlock();
      const copied = from.copy(this.#block, this.#usedBytes, at, end);
      this.#usedBytes += copied;
      at += copied;
    }
  }

  appendText(text: string): boolean {
    const escaped = Buffer.from(JSON.stringify(text).slice(1, -1));
    return this.append(escaped, 0, escaped.length);
  }

  /** Null if it was too long. */
  read(): string | null {
    if (this.#length > maxBytes) return null;
    return String(JSON.parse(`"${Buffer.concat(this.#blocks, this.#length).toString('utf8')}"`));
  }

  #addBlock(): void {
    this.#block = Buffer.allocUnsafe(Math.min(Math.max(this.#length, smallestBlockBytes), largestBlockBytes));
    this.#blocks.push(this.#block);
    this.#usedBytes = 0;
  }
}
