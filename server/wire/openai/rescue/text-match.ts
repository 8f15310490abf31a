/** Compares a text that comes in pieces with one that a client has the beginning of, each piece once. Pure. */
export class TextMatch {
  readonly #wanted: string;
  readonly #goesOnAnyway: boolean;
  /** So much of the wanted text has come. */
  #same = 0;
  /** It says what the client does not have, or is over and the same. */
  isBeyond = false;
  /** It says something else. */
  isDifferent = false;

  /** `goesOnAnyway`: a text that differs is the rest alone, as it was asked for. */
  constructor(wanted: string, goesOnAnyway: boolean) {
    this.#wanted = wanted;
    this.#goesOnAnyway = goesOnAnyway;
  }

  /** What of the next piece the client lacks; null while it lacks nothing. `isLast`: no more text follows. */
  take(text: string, isLast: boolean): string | null {
    if (this.isBeyond) return text;
    const left = this.#wanted.length - this.#same;
    const isSame = this.#wanted.startsWith(text.slice(0, left), this.#same);
    if (isSame && text.length >= left) {
      this.#same = this.#wanted.length;
      const more = text.slice(left);
      this.isBeyond = more !== '' || isLast;
      return this.isBeyond ? more : null;
    }
    if (isSame && !isLast) {
      this.#same += text.length;
      return null;
    }
    // Some repeat what they were given before they go on, most do not.
    this.isBeyond = this.#goesOnAnyway;
    this.isDifferent = !this.isBeyond;
    return this.isBeyond ? this.#wanted.slice(0, this.#same) + text : null;
  }
}
