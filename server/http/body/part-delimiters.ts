/** Finds the delimiters of a multipart body by busboy's rules, and those that only other parsers accept. */
import { GatewayError } from '../../contract/errors.ts';

export interface Delimiter {
  /** Offset of its leading line break; -2 if it begins the body without one. */
  at: number;
  /** `stray`: a boundary at the beginning of a line that lacks a line break or dashes of a delimiter. */
  kind: 'part' | 'last' | 'stray';
  /** The headers of the part that follows; empty after the last. */
  headers: string;
  /** Offset of that part's value; of the last delimiter, its end. */
  valueStart: number;
  /** From the boundary's dashes up to `valueStart`, in the memory of the chunk or in a copy. */
  bytes: Buffer;
}

export const lineBreak = '\r\n';
export const headersEnd = '\r\n\r\n';
const maxHeaderBytes = 16 * 1024;
const carriageReturn = 0x0d;
const lineFeed = 0x0a;
const dash = 0x2d;
const nothing = Buffer.alloc(0);

/** Scans a body chunk by chunk; buffers only possible beginnings of delimiters and headers. */
export class DelimiterScan {
  readonly #needle: Buffer;
  #unscanned: Buffer = nothing;
  /** Offset of the first buffered byte, else of the next chunk. */
  #offset: number;
  /** The two bytes before it. */
  #bytesBefore: readonly [number, number];
  #hasFirst: boolean;
  #isOver = false;

  /** `from`: the offset of the first chunk in the body. */
  constructor(boundary: string, from: number) {
    this.#needle = Buffer.from(`--${boundary}`, 'latin1');
    this.#offset = from;
    this.#hasFirst = from > 0;
    // The very first delimiter needs no line break, so one is assumed before it.
    this.#bytesBefore = from === 0 ? [carriageReturn, lineFeed] : [0, 0];
  }

  /** The delimiters completed by this chunk; none after the final one. */
  push(chunk: Buffer): Delimiter[] {
    const delimiters: Delimiter[] = [];
    if (this.#isOver) return delimiters;
    const window = this.#unscanned.length > 0 ? Buffer.concat([this.#unscanned, chunk]) : chunk;
    let searchedTo = 0;
    let at = window.indexOf(this.#needle);
    while (at !== -1) {
      const delimiter = this.#read(window, at);
      if (delimiter === 'incomplete') break;
      searchedTo = at + this.#needle.length;
      if (delimiter) {
        delimiters.push(delimiter);
        searchedTo = delimiter.valueStart - this.#offset;
        this.#hasFirst = true;
        this.#isOver = delimiter.kind === 'last';
      }
      at = this.#isOver ? -1 : window.indexOf(this.#needle, searchedTo);
    }
    this.#hold(window, at === -1 ? this.#beginningFrom(window, searchedTo) : at);
    return delimiters;
  }

  /** The delimiter at the boundary found at `at`; null if no parser takes it for one. */
  #read(window: Buffer, at: number): Delimiter | 'incomplete' | null {
    const from = at + this.#needle.length;
    const [first, second] = [this.#byteAt(window, at - 2), this.#byteAt(window, at - 1)];
    const isAfterBreak = first === carriageReturn && second === lineFeed;
    // Go's mime/multipart accepts bare line feeds (`Reader.nl`); Werkzeug finds the first boundary anywhere, even within
    // a line (compared in Kludex/python-multipart#262).
    const isAnyBreak = second === lineFeed || second === carriageReturn || !this.#hasFirst;
    if (!isAnyBreak) return null;
    if (window.length < from + 2) return 'incomplete';
    const mark = window.toString('latin1', from, from + 2);
    const until = (end: number) => ({
      at: this.#offset + at - lineBreak.length,
      valueStart: this.#offset + end,
      bytes: window.subarray(at, end),
    });
    const isLast = mark === '--';
    if (!isAfterBreak || (mark !== lineBreak && !isLast)) return { kind: 'stray', headers: '', ...until(from) };
    if (isLast) return { kind: 'last', headers: '', ...until(from + mark.length) };
    const end = window.indexOf(headersEnd, from);
    if (end !== -1) {
      const headers = window.toString('utf8', from + lineBreak.length, end);
      return { kind: 'part', headers, ...until(end + headersEnd.length) };
    }
    if (window.length - from <= maxHeaderBytes) return 'incomplete';
    throw new GatewayError('malformed_multipart', `The headers of a part are larger than ${maxHeaderBytes} bytes.`);
  }

  /** The offset of a possible truncated boundary at the end of the window; the window's end if there is none. */
  #beginningFrom(window: Buffer, from: number): number {
    const needle = this.#needle;
    let at = window.indexOf(dash, Math.max(from, window.length - needle.length + 1));
    while (at !== -1 && !window.subarray(at).equals(needle.subarray(0, window.length - at))) {
      at = window.indexOf(dash, at + 1);
    }
    return at === -1 ? window.length : at;
  }

  #hold(window: Buffer, from: number): void {
    this.#bytesBefore = [this.#byteAt(window, from - 2), this.#byteAt(window, from - 1)];
    // Copied, since the chunk's memory is freed by its last reader.
    this.#unscanned = from < window.length ? Buffer.from(window.subarray(from)) : nothing;
    this.#offset += from;
  }

  #byteAt(window: Buffer, index: number): number {
    return window[index] ?? this.#bytesBefore[index + 2] ?? 0;
  }
}
