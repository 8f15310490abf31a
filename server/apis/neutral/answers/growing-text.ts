/**
 * A text that arrives in pieces. Pieces given as the inside of a JSON string are decoded together, and only if the text
 * is read.
 */
export class GrowingText {
  #text = '';
  #escaped = '';

  add(text: string): void {
    this.#decode();
    this.#text += text;
  }

  /** @param escaped the inside of a JSON string */
  addEscaped(escaped: string): void {
    this.#escaped += escaped;
  }

  get text(): string {
    this.#decode();
    return this.#text;
  }

  get isEmpty(): boolean {
    return this.#text === '' && this.#escaped === '';
  }

  /** In characters. An escape counts as several until it is decoded. */
  get length(): number {
    return this.#text.length + this.#escaped.length;
  }

  #decode(): void {
    if (this.#escaped === '') return;
    this.#text += String(JSON.parse(`"${this.#escaped}"`));
    this.#escaped = '';
  }
}

/** The inside of the JSON string that represents this text. */
export function escapeText(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

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

/** `list.push(...more)` for lists from untrusted sources, which might overflow the stack as arguments. */
export function append<Item>(list: Item[], more: readonly Item[]): void {
  for (const item of more) list.push(item);
}
