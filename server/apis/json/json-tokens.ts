/** JSON tokens that are scanned in one step: numbers, literals, whitespace, and backslashes before a closing quote. */

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
const zero = 0x30;
const nine = 0x39;
const backslash = 0x5c;
const lowerE = 0x65;

const literals = ['true', 'false', 'null'];

/** Limit of a number or whitespace run; real bodies have none as long. */
const maxNumberBytes = 64 * 1024;
const maxBlanks = 1024 * 1024;
/** A string with a longer run of backslashes is scanned from its beginning, in pieces of this length. */
export const maxBackslashes = 64 * 1024;

/** Whether `closing` follows more backslashes than `maxBackslashes`. */
export function hasLongRun(body: Buffer, from: number, closing: number): boolean {
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
  if (byte === minus || isDigit(byte)) return skipNumber(body, start);
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
  while (isDigit(body[at])) {
    if (at - start === maxNumberBytes) throw new JsonFault(start, `a number of more than ${maxNumberBytes} digits`);
    at++;
  }
  if (at === start) throw new JsonFault(start, 'expected a digit');
  return at;
}

function isDigit(byte = 0): boolean {
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

export function hasByteOrderMark(body: Buffer): boolean {
  return body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf;
}
