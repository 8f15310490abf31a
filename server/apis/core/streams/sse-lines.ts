/**
 * Lines and events of server-sent event streams in bytes. A line ends in LF, CRLF or CR, in any mixture (WHATWG HTML,
 * "Parsing an event stream"), and an event ends with an empty line.
 */

const LF = 0x0a;
const CR = 0x0d;

/** Finds the line ends of a chunk, each byte of which is searched once. Offsets must be asked for in order. */
export class LineEnds {
  readonly #bytes: Buffer;
  /** The next ones; the length of the bytes if there are no more. */
  #lf = -1;
  #cr = -1;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Offset after the first empty line at or after `from`, or -1. @param atLineStart `from` is the start of a line */
  endOfEvent(from: number, atLineStart: boolean): number {
    let lineStart = atLineStart ? from : -1;
    for (let end = this.#next(from); end < this.#bytes.length; end = this.#next(lineStart)) {
      const after = this.#after(end);
      if (end === lineStart) return after;
      lineStart = after;
    }
    return -1;
  }

  #next(from: number): number {
    if (this.#lf < from) this.#lf = this.#find(LF, from);
    if (this.#cr < from) this.#cr = this.#find(CR, from);
    return this.#lf < this.#cr ? this.#lf : this.#cr;
  }

  #find(byte: number, from: number): number {
    const at = this.#bytes.indexOf(byte, from);
    return at === -1 ? this.#bytes.length : at;
  }

  /** A CR at the end of a chunk ends its line at once; a LF that follows in the next chunk belongs to it. */
  #after(end: number): number {
    return this.#bytes[end] === CR && this.#bytes[end + 1] === LF ? end + 2 : end + 1;
  }
}

export function isLineEnd(byte: number | undefined): boolean {
  return byte === LF || byte === CR;
}

/** Offset of the first line end at or after `from`; the length if there is none. */
export function endOfLine(bytes: Buffer, from: number): number {
  const lf = bytes.indexOf(LF, from);
  const line = lf === -1 ? bytes : bytes.subarray(0, lf);
  const cr = line.indexOf(CR, from);
  return cr === -1 ? line.length : cr;
}

/** Whether a line that ended with the chunk before goes on with this one: its CRLF was split. */
export function isSplitLineEnd(last: number | undefined, first: number | undefined): boolean {
  return last === CR && first === LF;
}
