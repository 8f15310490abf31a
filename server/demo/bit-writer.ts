/** Bits written one after the other, with the codes of H.264 (ITU-T H.264, 7.2 and 9.1). */
export class BitWriter {
  #bytes = new Uint8Array(1024);
  #bitCount = 0;

  /** The lowest `count` bits of the value, the highest of them first. */
  bits(value: number, count: number): this {
    this.#reserve(count);
    for (let shift = count - 1; shift >= 0; shift -= 1) {
      const place = this.#bitCount >> 3;
      const bit = (value >>> shift) & 1;
      this.#bytes[place] = (this.#bytes[place] ?? 0) | (bit << (7 - (this.#bitCount & 7)));
      this.#bitCount += 1;
    }
    return this;
  }

  /** An unsigned Exp-Golomb code, `ue(v)`. Zero, the same in the signed code, serves for `se(v)` as well. */
  exponential(value: number): this {
    const length = Math.floor(Math.log2(value + 1));
    return this.bits(0, length).bits(value + 1, length + 1);
  }

  /** Zeros up to the next whole byte. */
  align(): this {
    return this.bits(0, (8 - (this.#bitCount & 7)) & 7);
  }

  /** Whole bytes; only where the writer stands on one. */
  append(bytes: Uint8Array): this {
    this.#reserve(bytes.length * 8);
    this.#bytes.set(bytes, this.#bitCount >> 3);
    this.#bitCount += bytes.length * 8;
    return this;
  }

  /** The end mark of a NAL unit's payload: a one, then zeros to the whole byte. */
  finish(): Uint8Array {
    this.bits(1, 1).align();
    return this.#bytes.subarray(0, this.#bitCount >> 3);
  }

  #reserve(bits: number): void {
    const needed = (this.#bitCount >> 3) + (bits >> 3) + 2;
    if (needed <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
    larger.set(this.#bytes);
    this.#bytes = larger;
  }
}
