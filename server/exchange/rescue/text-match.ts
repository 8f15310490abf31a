/** Compares a text that comes in pieces with one that a client has the beginning of. Pure. */
export class TextMatch {
  readonly #wanted: string;
  readonly #goesOnAnyway: boolean;
  #same = '';
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
    this.#same += text;
    const { length } = this.#wanted;
    if (this.#same.length >= length && this.#same.startsWith(this.#wanted)) {
      const more = this.#same.slice(length);
      this.isBeyond = more !== '' || isLast;
      return this.isBeyond ? more : null;
    }
    if (!isLast && this.#wanted.startsWith(this.#same)) return null;
    // Some repeat what they were given before they go on, most do not.
    this.isBeyond = this.#goesOnAnyway;
    this.isDifferent = !this.isBeyond;
    return this.isBeyond ? this.#same : null;
  }
}
