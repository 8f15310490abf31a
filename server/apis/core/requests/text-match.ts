/** Compares a text that arrives in pieces with the beginning that a client already has; each character once. Pure. */
export class TextMatch {
  readonly #expected: string;
  readonly #allowsSuffix: boolean;
  /** How many characters have matched. */
  #matched = 0;
  /** The text goes beyond the expected one, or ended equal to it. */
  isBeyond = false;
  /** The text contradicts the expected one. */
  isDifferent = false;

  /** `allowsSuffix`: a text that differs is the requested continuation. */
  constructor(expected: string, allowsSuffix: boolean) {
    this.#expected = expected;
    this.#allowsSuffix = allowsSuffix;
  }

  /** The part of the next piece that the client lacks; null while it lacks nothing. `isLast`: no more text follows. */
  take(text: string, isLast: boolean): string | null {
    if (this.isBeyond) return text;
    const remaining = this.#expected.length - this.#matched;
    const isSame = this.#expected.startsWith(text.slice(0, remaining), this.#matched);
    if (isSame && text.length >= remaining) {
      this.#matched = this.#expected.length;
      const more = text.slice(remaining);
      this.isBeyond = more !== '' || isLast;
      return this.isBeyond ? more : null;
    }
    if (isSame && !isLast) {
      this.#matched += text.length;
      return null;
    }
    // Some models repeat the given beginning before they continue it; most do not.
    this.isBeyond = this.#allowsSuffix;
    this.isDifferent = !this.isBeyond;
    return this.isBeyond ? this.#expected.slice(0, this.#matched) + text : null;
  }
}
