/** Where the texts of an answer's parts begin in all of its text, for APIs whose citations count within one part. */
export class TextParts<Part> {
  readonly #parts: { part: Part; start: number }[] = [];
  #length = 0;

  begin(part: Part): void {
    this.#parts.push({ part, start: this.#length });
  }

  /** The latest text has grown by this length, in whatever unit the API counts. */
  add(length: number): void {
    this.#length += length;
  }

  /** The part with this place, or the last one if the place is unknown. Undefined if there are none. */
  at(place: number | null): { part: Part; start: number } | undefined {
    let low = 0;
    let high = this.#parts.length - 1;
    if (place === null) return this.#parts[high];
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if ((this.#parts[middle]?.start ?? 0) <= place) low = middle;
      else high = middle - 1;
    }
    return this.#parts[low];
  }
}
