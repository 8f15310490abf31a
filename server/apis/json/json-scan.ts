/**
 * Scans a JSON object once and reports its top-level members. Checks the grammar without making strings or copies, so
 * long text is cheap. Can pause anywhere except within a number or a run of whitespace, whose length is bounded
 * instead, so that callers can scan long documents in slices.
 *
 * Inside strings it only looks for the closing quote: an invalid escape or a raw control character is left to the
 * upstream to reject.
 */

/** Half open: `end` is the offset after the last byte. */
export interface ByteRange {
  start: number;
  end: number;
}

/** Receives the ranges of each top-level member's key, with its quotes, and value. */
export interface MemberListener {
  /** `items`: number of direct elements or members of a list or object, 0 for other values. */
  member(key: ByteRange, value: ByteRange, items: number): void;
  /** A marked string is in this element of the top-level member. */
  marked?(key: ByteRange, element: Omit<MarkedElement, 'field'>): void;
  /**
   * A key further inside, with its quotes, and where its value begins. `depth` is 2 in a top-level object, and 3 in an object of a
   * top-level list, such as a message.
   */
  readonly innerKey?: ((key: number, keyEnd: number, valueStart: number, depth: number) => void) | undefined;
  /** Such a key that is long, or has escapes or other bytes than ASCII, which parsers may read as a plain one. */
  readonly oddInnerKey?: ((key: number, keyEnd: number, valueStart: number) => void) | undefined;
}

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const openArray = 0x5b;
const backslash = 0x5c;
const openObject = 0x7b;
const closeObject = 0x7d;
/** In ASCII, each closing bracket is two code points after its opening one. */
const openToClose = 2;

/** Far above real bodies; the upstream's parser may be recursive. */
const maxDepth = 10_000;
/** No API has longer names. */
const plainKeyBytes = 48;
/** Shorter strings are scanned byte by byte; beyond it a native search for the quote is faster. */
const probeBytes = 16;
/**
 * Number of bytes scanned one by one after an escaped quote, because code and JSON within a string contain many. Searching
 * for each took 1.7 ns per byte of code and 3 of JSON instead of 1.1 and 1.6; text with few quotes takes 0.2.
 */
const quotedBytes = 40;

/** What the scanner expects next; numbers, since they are compared for each token. */
const expectsValue = 0;
const expectsKey = 1;
const expectsDelimiter = 2;
const restOfValue = 3;
const restOfKey = 4;

export class JsonScan {
  /** Offset of the document's closing brace, or -1 before it is reached. */
  end = -1;
  /** Whether the document is `{}`. */
  readonly isEmpty: boolean;
  /** Number of values so far, at any depth: what `JSON.parse` would create. */
  values = 0;
  readonly #body: Buffer;
  readonly #listener: MemberListener;
  readonly #closers = [closeObject];
  #at: number;
  #expected: number;
  #key: ByteRange = { start: 0, end: 0 };
  #valueStart = 0;
  #items = 0;
  /** Start of the string being scanned. */
  #stringStart = 0;
  #nextQuote = -1;
  #isPlainKey = false;
  /** Start of the current element of a top-level list. */
  #elementStart = 0;
  readonly #marks: JsonMarks | undefined;

  /** `body`: UTF-8, with or without a byte order mark. Throws a JsonFault if it does not begin with an object. */
  constructor(body: Buffer, listener: MemberListener, marks?: JsonMarks) {
    this.#body = body;
    this.#listener = listener;
    this.#marks = marks;
    const open = skipSpace(body, hasByteOrderMark(body) ? 3 : 0);
    if (body[open] !== openObject) throw new JsonFault(open, 'expected an object');
    this.#at = skipSpace(body, open + 1);
    this.isEmpty = body[this.#at] === closeObject;
    this.#expected = this.isEmpty ? expectsDelimiter : expectsKey;
  }

  /** Scans about `bytes` more. True at the end of the document; throws a JsonFault if it is malformed. */
  advance(bytes: number): boolean {
    const until = this.#at + bytes < this.#body.length ? this.#at + bytes : Number.POSITIVE_INFINITY;
    let at = this.#at;
    let expected = this.#expected;
    while (at < until && this.end === -1) {
      if (expected === expectsDelimiter) at = this.#passDelimiter(at);
      else if (expected === expectsValue) at = this.#passValue(at, until);
      else if (expected === expectsKey) at = this.#passKey(at, until);
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
      if (this.#marks?.matches(this.#body, at)) this.#tellOf();
      return this.#passString(at + 1, until, restOfValue);
    }
    if (byte === openObject || byte === openArray) return this.#open(at, byte);
    return this.#endValue(skipScalar(this.#body, at));
  }

  /** Of a marked string. Nothing at the top level is part of a conversation. */
  #tellOf(): void {
    if (this.#closers.length === 1) return;
    const isInList = this.#closers[1] === openArray + openToClose;
    const element = isInList
      ? { index: this.#items - 1, start: this.#elementStart }
      : { index: null, start: this.#valueStart };
    this.#listener.marked?.(this.#key, element);
  }

  #open(at: number, byte: number): number {
    const closers = this.#closers;
    // The document itself is not counted.
    if (closers.length > maxDepth) throw new JsonFault(at, `nested deeper than ${maxDepth}`);
    closers.push(byte + openToClose);
    const next = skipSpace(this.#body, at + 1);
    if (this.#body[next] === byte + openToClose) {
      this.#expected = expectsDelimiter;
      return next;
    }
    if (closers.length === 2) {
      this.#items = 1;
      this.#elementStart = next;
    }
    this.#expected = byte === openObject ? expectsKey : expectsValue;
    return next;
  }

  /** Handles a comma or closing bracket. */
  #passDelimiter(at: number): number {
    const closers = this.#closers;
    const closer = closers[closers.length - 1];
    const byte = this.#body[at];
    if (byte === comma) {
      const next = skipSpace(this.#body, at + 1);
      if (closers.length === 2) {
        this.#items++;
        this.#elementStart = next;
      }
      this.#expected = closer === closeObject ? expectsKey : expectsValue;
      return next;
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
    const end = endOfPlainKey(this.#body, at + 1);
    this.#isPlainKey = end !== -1;
    return end === -1 ? this.#passString(at + 1, until, restOfKey) : this.#endKey(end + 1);
  }

  /** Scans from inside a string to its end, or until `until`; `rest` is the state in which to continue. */
  #passString(from: number, until: number, rest: number): number {
    const body = this.#body;
    let at = from;
    let stop = Math.min(at + probeBytes, body.length);
    for (;;) {
      at = passText(body, at, stop);
      if (at < stop) return rest === restOfKey ? this.#endKey(at + 1) : this.#endValue(at + 1);
      if (at >= until) break;
      if (this.#nextQuote < at) this.#nextQuote = body.indexOf(quote, at);
      const closing = this.#nextQuote;
      if (closing === -1) throw new JsonFault(this.#stringStart, 'a string that never ends');
      if (hasLongRun(body, at, closing)) at = passEscapes(body, at, at + maxBackslashes);
      else if (isEscaped(body, at, closing)) at = closing + 1;
      else return rest === restOfKey ? this.#endKey(closing + 1) : this.#endValue(closing + 1);
      stop = Math.min(at + quotedBytes, body.length);
    }
    this.#expected = rest;
    return at;
  }

  #endKey(end: number): number {
    const at = skipSpace(this.#body, end);
    if (this.#body[at] !== colon) throw new JsonFault(at, 'expected a colon');
    const valueStart = skipSpace(this.#body, at + 1);
    this.#expected = expectsValue;
    if (this.#closers.length === 1) {
      this.#key = { start: this.#stringStart, end };
      this.#valueStart = valueStart;
      this.#items = 0;
    } else if (this.#isPlainKey) {
      this.#listener.innerKey?.(this.#stringStart, end, valueStart, this.#closers.length);
    } else this.#listener.oddInnerKey?.(this.#stringStart, end, valueStart);
    return valueStart;
  }

  #endValue(end: number): number {
    if (this.#closers.length === 1) this.#listener.member(this.#key, { start: this.#valueStart, end }, this.#items);
    this.#expected = expectsDelimiter;
    return skipSpace(this.#body, end);
  }
}

/** Offset of the closing quote; -1 if it is far, or what is before it is not plain. */
function endOfPlainKey(body: Buffer, from: number): number {
  for (let at = from; at <= from + plainKeyBytes; at++) {
    const byte = body[at] ?? backslash;
    if (byte === quote) return at;
    if (byte === backslash || byte > 0x7f) return -1;
  }
  return -1;
}

/** Offset of the closing quote, or where to resume if it is not before `stop`. */
function passText(body: Buffer, from: number, stop: number): number {
  let at = from;
  while (at < stop) {
    const byte = body[at];
    if (byte === quote) return at;
    at += byte === backslash ? 2 : 1;
  }
  return at;
}

/** Scans byte by byte to about `end`, never stopping inside an escape. */
function passEscapes(body: Buffer, from: number, end: number): number {
  let at = from;
  while (at < end) at += body[at] === backslash ? 2 : 1;
  return at;
}

const zero = 0x30;
const nine = 0x39;

const firstPrintable = 0x20;
const letterU = 0x75;
const escapable = new Set<number | undefined>(Buffer.from('"\\/bfnrt'));
const hexDigits = new Set<number | undefined>(Buffer.from('0123456789abcdefABCDEF'));

/**
 * Offset of the closing quote of the string whose content begins at `from`; -1 if there is none or the string is invalid.
 */
export function endOfString(bytes: Buffer, from: number): number {
  for (let at = from; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte === quote) return at;
    if (byte < firstPrintable) return -1;
    if (byte === backslash) {
      at++;
      if (bytes[at] === letterU && areHexDigits(bytes, at + 1, at + 5)) at += 4;
      else if (!escapable.has(bytes[at])) return -1;
    }
  }
  return -1;
}

/** Offset after the whole number that begins at `from`; -1 if there is none. */
export function endOfDigits(bytes: Buffer, from: number): number {
  let at = from;
  while (isDigit(bytes[at])) at++;
  const hasLeadingZero = bytes[from] === zero && at > from + 1;
  return at === from || hasLeadingZero ? -1 : at;
}

function areHexDigits(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (!hexDigits.has(bytes[at])) return false;
  return true;
}

const isDigit = (byte = 0) => byte >= zero && byte <= nine;

// JSON tokens that are scanned in one step: numbers, literals, whitespace, and backslashes before a closing quote.

/** An element of a top-level list that contains a marked string. */
export interface MarkedElement {
  /** The name of the top-level member. */
  field: string;
  /** Position in the list; null if the member is no list, and `start` therefore the member's value. */
  index: number | null;
  /** Offset of the element's first byte. */
  start: number;
}

/**
 * How certain string values of a document begin, so that the one scan of a body tells which of its elements have any.
 */
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
    return this.#beginnings.some((beginning) => startsWithBytes(body, start + 1, beginning));
  }
}

function startsWithBytes(body: Buffer, start: number, text: Buffer): boolean {
  for (let index = 0; index < text.length; index++) if (body[start + index] !== text[index]) return false;
  return true;
}

export class JsonFault extends Error {
  readonly offset: number;

  constructor(offset: number, reason: string) {
    super(reason);
    this.offset = offset;
  }
}

const tab = 0x09;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;
const plus = 0x2b;
const minus = 0x2d;
const dot = 0x2e;

const lowerE = 0x65;

const literals = ['true', 'false', 'null'];

/** Limit of a number or whitespace run; real bodies have none as long. */
const maxNumberBytes = 64 * 1024;
const maxBlanks = 1024 * 1024;
/** A string with a longer run of backslashes is scanned from its beginning, in pieces of this length. */
const maxBackslashes = 64 * 1024;

/** Whether `closing` follows more backslashes than `maxBackslashes`. */
function hasLongRun(body: Buffer, from: number, closing: number): boolean {
  const first = closing - maxBackslashes;
  return first >= from && body[closing - 1] === backslash && countBackslashes(body, first, closing) === maxBackslashes;
}

/** Whether an odd number of backslashes precedes `closing`; `from` must be outside of an escape. */
export function isEscaped(body: Buffer, from: number, closing: number): boolean {
  return body[closing - 1] === backslash && countBackslashes(body, from, closing) % 2 === 1;
}

/** Directly before `end`, and not before `from`. */
function countBackslashes(body: Buffer, from: number, end: number): number {
  let at = end;
  while (at > from && body[at - 1] === backslash) at--;
  return end - at;
}

/** Offset after the number or literal that begins at `start`. */
export function skipScalar(body: Buffer, start: number): number {
  const byte = body[start];
  if (byte === minus || isDecimalDigit(byte)) return skipNumber(body, start);
  const literal = literals.find((text) => startsWith(body, start, text));
  if (literal !== undefined) return start + literal.length;
  throw new JsonFault(start, start < body.length ? 'expected a value' : 'ended too early');
}

function startsWith(body: Buffer, start: number, text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    if (body[start + index] !== text.charCodeAt(index)) return false;
  }
  return true;
}

function skipNumber(body: Buffer, start: number): number {
  const whole = body[start] === minus ? start + 1 : start;
  let at = body[whole] === zero ? whole + 1 : skipDigits(body, whole);
  if (body[at] === dot) at = skipDigits(body, at + 1);
  if (((body[at] ?? 0) | space) !== lowerE) return at;
  const sign = body[at + 1];
  return skipDigits(body, sign === plus || sign === minus ? at + 2 : at + 1);
}

function skipDigits(body: Buffer, start: number): number {
  let at = start;
  while (isDecimalDigit(body[at])) {
    if (at - start === maxNumberBytes) throw new JsonFault(start, `a number of more than ${maxNumberBytes} digits`);
    at++;
  }
  if (at === start) throw new JsonFault(start, 'expected a digit');
  return at;
}

function isDecimalDigit(byte = 0): boolean {
  return byte >= zero && byte <= nine;
}

export function skipSpace(body: Buffer, start: number): number {
  for (let at = start; ; at++) {
    const byte = body[at];
    if (byte === undefined || byte > space) return at; // The usual case.
    if (byte !== space && byte !== lineFeed && byte !== carriageReturn && byte !== tab) return at;
    if (at - start === maxBlanks) throw new JsonFault(start, `more than ${maxBlanks} blanks`);
  }
}

function hasByteOrderMark(body: Buffer): boolean {
  return body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf;
}
