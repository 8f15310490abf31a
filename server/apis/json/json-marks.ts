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
  /** 1 at each byte by which a marked string begins; looked up for each string value. */
  readonly firstBytes = new Uint8Array(256);
  readonly #beginnings: readonly Buffer[];

  /** `beginnings`: ASCII without characters that JSON escapes. */
  constructor(beginnings: readonly string[]) {
    this.#beginnings = beginnings.map((beginning) => Buffer.from(beginning));
    for (const [first = 0] of this.#beginnings) this.firstBytes[first] = 1;
  }

  /** Whether the string whose opening quote is at `start` is marked. */
  matches(body: Buffer, start: number): boolean {
    return this.#beginnings.some((beginning) => startsWith(body, start + 1, beginning));
  }
}

function startsWith(body: Buffer, start: number, text: Buffer): boolean {
  for (let index = 0; index < text.length; index++) if (body[start + index] !== text[index]) return false;
  return true;
}
