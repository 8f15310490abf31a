/**
 * Goes through a JSON object once and tells of its top-level members. Checks the grammar, makes no strings and copies
 * nothing, so a long text costs next to nothing. Can be interrupted anywhere but within a number or a run of blanks, whose
 * lengths are bounded instead: whoever has a long document goes through it in slices.
 *
 * Inside strings it only looks for the closing quote: a bad escape or a raw control character in there is left for the
 * upstream to refuse.
 */
import {
  hasByteOrderMark,
  hasLongRun,
  isEscaped,
  JsonFault,
  maxBackslashes,
  skipScalar,
  skipSpace,
} from './json-tokens.ts';

/** Half open: `end` is the offset after the last byte. */
export interface ByteRange {
  start: number;
  end: number;
}

/** Told of each top-level member: where its key, with its quotes, and its value stand. */
export interface MemberListener {
  /** `items`: direct elements or members of a list or object, 0 of anything else. */
  member(key: ByteRange, value: ByteRange, items: number): void;
}

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const openArray = 0x5b;
const backslash = 0x5c;
const openObject = 0x7b;
const closeObject = 0x7d;
/** Both closing brackets stand two places after their opening one in ASCII. */
const openToClose = 2;

/** No real body comes near it, and what reads the document after us may be recursive. */
const maxDepth = 10_000;
/** Strings shorter than this are walked byte by byte; past it a native search for the quote is cheaper. */
const probeBytes = 16;

/** What the next byte belongs to; numbers, since they are compared for each token. */
const aValue = 0;
const aKey = 1;
const aDelimiter = 2;
const restOfValue = 3;
const restOfKey = 4;

export class JsonScan {
  /** Of the document's closing brace, once it is over. */
  end = -1;
  /** Whether the document is `{}`. */
  readonly isEmpty: boolean;
  /** All values so far, at any depth: what `JSON.parse` would have to make. */
  values = 0;
  readonly #body: Buffer;
  readonly #listener: MemberListener;
  readonly #closers = [closeObject];
  #at: number;
  #expected: number;
  #key: ByteRange = { start: 0, end: 0 };
  #valueStart = 0;
  #items = 0;
  /** Of the string that is being gone through. */
  #stringStart = 0;
  #nextQuote = -1;

  /** `body`: UTF-8, with or without a byte order mark. Throws a JsonFault if no object begins there. */
  constructor(body: Buffer, listener: MemberListener) {
    this.#body = body;
    this.#listener = listener;
    const open = skipSpace(body, hasByteOrderMark(body) ? 3 : 0);
    if (body[open] !== openObject) throw new JsonFault(open, 'expected an object');
    this.#at = skipSpace(body, open + 1);
    this.isEmpty = body[this.#at] === closeObject;
    this.#expected = this.isEmpty ? aDelimiter : aKey;
  }

  /** Goes on for about so many bytes. True once the document is over; throws a JsonFault where it is none. */
  advance(bytes: number): boolean {
    const until = this.#at + bytes < this.#body.length ? this.#at + bytes : Number.POSITIVE_INFINITY;
    let at = this.#at;
    let expected = this.#expected;
    while (at < until && this.end === -1) {
      if (expected === aDelimiter) at = this.#passDelimiter(at);
      else if (expected === aValue) at = this.#passValue(at, until);
      else if (expected === aKey) at = this.#passKey(at, until);
      else at = this.#passString(at, until, expected);
      expected = this.#expected;
    }
    this.#at = at;
    return this.end !== -1;
  }

  #passValue(at: number, until: number): number {
    const byte = this.#body[at];
    this.values++;
    if (byte === quote) {
      this.#stringStart = at;
      return this.#passString(at + 1, until, restOfValue);
    }
    if (byte === openObject || byte === openArray) return this.#open(at, byte);
    return this.#endValue(skipScalar(this.#body, at));
  }

  #open(at: number, byte: number): number {
    const closers = this.#closers;
    // The document itself is one more than what is counted.
    if (closers.length > maxDepth) throw new JsonFault(at, `nested deeper than ${maxDepth}`);
    closers.push(byte + openToClose);
    const next = skipSpace(this.#body, at + 1);
    if (this.#body[next] === byte + openToClose) {
      this.#expected = aDelimiter;
      return next;
    }
    if (closers.length === 2) this.#items = 1;
    this.#expected = byte === openObject ? aKey : aValue;
    return next;
  }

  /** A comma, or a closing bracket. */
  #passDelimiter(at: number): number {
    const closers = this.#closers;
    const closer = closers[closers.length - 1];
    const byte = this.#body[at];
    if (byte === comma) {
      if (closers.length === 2) this.#items++;
      this.#expected = closer === closeObject ? aKey : aValue;
      return skipSpace(this.#body, at + 1);
    }
    if (byte !== closer) {
      throw new JsonFault(at, `expected a comma or a closing ${closers.length === 1 ? 'brace' : 'bracket'}`);
    }
    closers.pop();
    return closers.length === 0 ? this.#finish(at) : this.#endValue(at + 1);
  }

  #finish(at: number): number {
    const rest = skipSpace(this.#body, at + 1);
    if (rest < this.#body.length) throw new JsonFault(rest, 'expected nothing after the closing brace');
    this.end = at;
    return rest;
  }

  #passKey(at: number, until: number): number {
    if (this.#body[at] !== quote) throw new JsonFault(at, 'expected a string');
    this.#stringStart = at;
    return this.#passString(at + 1, until, restOfKey);
  }

  /** From inside a string to what follows it, or as far as is to be gone; `rest` is what it is the rest of. */
  #passString(from: number, until: number, rest: number): number {
    const body = this.#body;
    const stop = Math.min(from + probeBytes, body.length);
    let at = from;
    while (at < stop) {
      const byte = body[at];
      if (byte === quote) return rest === restOfKey ? this.#endKey(at + 1) : this.#endValue(at + 1);
      at += byte === backslash ? 2 : 1;
    }
    return this.#passLongString(at, until, rest);
  }

  #passLongString(from: number, until: number, rest: number): number {
    const body = this.#body;
    if (from >= until) {
      this.#expected = rest;
      return from;
    }
    if (this.#nextQuote < from) this.#nextQuote = body.indexOf(quote, from);
    const closing = this.#nextQuote;
    if (closing === -1) throw new JsonFault(this.#stringStart, 'a string that never ends');
    const isLong = hasLongRun(body, from, closing);
    if (isLong || isEscaped(body, from, closing)) {
      this.#expected = rest;
      return isLong ? passEscapes(body, from, from + maxBackslashes) : closing + 1;
    }
    return rest === restOfKey ? this.#endKey(closing + 1) : this.#endValue(closing + 1);
  }

  #endKey(end: number): number {
    const at = skipSpace(this.#body, end);
    if (this.#body[at] !== colon) throw new JsonFault(at, 'expected a colon');
    const valueStart = skipSpace(this.#body, at + 1);
    this.#expected = aValue;
    if (this.#closers.length === 1) {
      this.#key = { start: this.#stringStart, end };
      this.#valueStart = valueStart;
      this.#items = 0;
    }
    return valueStart;
  }

  #endValue(end: number): number {
    if (this.#closers.length === 1) this.#listener.member(this.#key, { start: this.#valueStart, end }, this.#items);
    this.#expected = aDelimiter;
    return skipSpace(this.#body, end);
  }
}

/** Byte by byte to about `end`, never into the middle of an escape. */
function passEscapes(body: Buffer, from: number, end: number): number {
  let at = from;
  while (at < end) at += body[at] === backslash ? 2 : 1;
  return at;
}
