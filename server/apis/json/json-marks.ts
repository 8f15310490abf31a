/** How certain string values of a document begin, so that the one scan of a body tells which of its elements have any. */

/** An element of a top-level list that contains a marked string. */
export interface MarkedElement {
  /** The name of the top-level member. */
  field: string;
  /** Position in the list; null if the member is no list, and `start` therefore the member's value. */
  index: number | null;
  /** Offset of the element's first byte. */
  start: number;
}

export class JsonMarks {
  /** 1 at each pair of bytes by which a marked string begins; looked up for each string value. */
  readonly #pairs = new Uint8Array(256 * 256);
  readonly #beginnings: readonly Buffer[];

  /** `beginnings`: two characters or more, ASCII without those that JSON escapes. */
  constructor(beginnings: readonly string[]) {
    this.#beginnings = beginnings.map((beginning) => Buffer.from(beginning));
    for (const [first = 0, second = 0] of this.#beginnings) this.#pairs[first * 256 + second] = 1;
  }

  /** Whether the string whose opening quote is at `start` is marked. */
  matches(body: Buffer, start: number): boolean {
    const pair = (body[start + 1] ?? 0) * 256 + (body[start + 2] ?? 0);
    return this.#pairs[pair] === 1 && this.#isMarked(body, start);
  }

  #isMarked(body: Buffer, start: number): boolean {
    return this.#beginnings.some((beginning) => startsWith(body, start + 1, beginning));
  }
}

function startsWith(body: Buffer, start: number, text: Buffer): boolean {
  for (let index = 0; index < text.length; index++) if (body[start + index] !== text[index]) return false;
  return true;
}
