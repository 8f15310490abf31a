/** The text of an answer as its client has it, to find the places in it to which seals and citations refer. */
import { GrowingText } from '../neutral/answers/growing-text.ts';
import type { CitedPlace, SourcePlace } from '../neutral/neutral-answer.ts';

/** In characters; as in `PartialAnswer`. Of a longer text only the length is kept. */
const maxLength = 512 * 1024;

/** In characters. Each of many citations may have all of the text. */
const maxQuoted = 1024 * 1024;

export class AnswerText {
  #text = new GrowingText();
  #forgotten = 0;
  #passage = 0;
  #bytes = new ByteOffsets();
  #quoted = 0;

  add(text: string): void {
    this.#text.add(text);
    this.#limit();
  }

  /** @param escaped the inside of a JSON string */
  addEscaped(escaped: string): void {
    this.#text.addEscaped(escaped);
    this.#limit();
  }

  get length(): number {
    return this.#forgotten + this.#text.text.length;
  }

  beginPassage(): void {
    this.#passage = this.length;
  }

  /** Null for a place that is none: empty, unknown, or with another text than its upstream says. */
  placeOf(place: SourcePlace | null): CitedPlace | null {
    if (place === null) return null;
    const [start, end] = this.#rangeOf(place);
    return start >= 0 && end > start ? { start, end, quote: this.#quote(start, end) } : null;
  }

  #rangeOf(place: SourcePlace): [start: number, end: number] {
    if (place.unit === 'characters') return [place.start, place.end];
    if (place.unit === 'passage') return [this.#passage, this.length];
    if (this.#forgotten > 0) return nowhere;
    const { text } = this.#text;
    this.#bytes.extend(text);
    for (const startByte of place.starts) {
      const start = this.#bytes.characterAt(startByte);
      const end = this.#bytes.characterAt(startByte + place.length);
      const isThere = start !== -1 && end !== -1 && (place.text === null || text.slice(start, end) === place.text);
      if (isThere) return [start, end];
    }
    return nowhere;
  }

  #quote(start: number, end: number): CitedPlace['quote'] {
    const { text } = this.#text;
    if (this.#forgotten > 0 || end > text.length) return null;
    this.#bytes.extend(text);
    this.#quoted += end - start;
    const said = this.#quoted <= maxQuoted ? text.slice(start, end) : null;
    return { startByte: this.#bytes.at(start), endByte: this.#bytes.at(end), text: said };
  }

  #limit(): void {
    if (this.#text.length <= maxLength || this.#text.text.length <= maxLength) return;
    this.#forgotten += this.#text.text.length;
    this.#text = new GrowingText();
    this.#bytes = new ByteOffsets();
  }
}

const nowhere: [number, number] = [-1, -1];

/** Where each character of a growing text is in its UTF-8. The second half of a pair is where the pair begins. */
class ByteOffsets {
  readonly #offsets = [0];

  /** @param text what was given before, and more */
  extend(text: string): void {
    let at = this.#offsets.length - 1;
    let bytes = this.at(at);
    for (let code = text.codePointAt(at); code !== undefined; code = text.codePointAt(at)) {
      const isHalf = code >= 0xd800 && code < 0xdc00;
      if (isHalf && at === text.length - 1) return;
      if (code > 0xffff) {
        this.#offsets.push(bytes);
        at++;
      }
      bytes += byteLengthOf(code);
      this.#offsets.push(bytes);
      at++;
    }
  }

  at(character: number): number {
    return this.#offsets[character] ?? this.#offsets.at(-1) ?? 0;
  }

  /** -1 if no character begins there. */
  characterAt(byte: number): number {
    let low = 0;
    let high = this.#offsets.length - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.at(middle) < byte) low = middle + 1;
      else high = middle;
    }
    return this.#offsets[low] === byte ? low : -1;
  }
}

function byteLengthOf(code: number): number {
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  return code > 0xffff ? 4 : 3;
}
