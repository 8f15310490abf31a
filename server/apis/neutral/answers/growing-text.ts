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
