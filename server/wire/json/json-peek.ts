/**
 * Finds a few top-level values of a JSON body without parsing the body: one pass over the bytes that checks the grammar
 * and remembers byte ranges. It makes no strings for what it skips, so a long question costs next to nothing, and the
 * ranges let `json-splice.ts` change one value and leave every other byte as the client sent it.
 *
 * Knows JSON, not what the fields mean. Inside strings it only looks for the closing quote: a bad escape or a raw
 * control character in there is left for the upstream to refuse.
 */

/** Half open: `end` is the offset after the last byte. */
export interface ByteRange {
  start: number;
  end: number;
}

/** Where one top-level value stands. */
export interface JsonField extends ByteRange {
  /** Offset of the quote that opens the key. */
  keyStart: number;
  /** Values of the same key further up; `JSON.parse` takes the last one, other parsers may take the first. */
  earlier: ByteRange[];
}

export type JsonPeek =
  | {
      ok: true;
      fields: Map<string, JsonField>;
      /** Offset of the document's closing brace. */
      end: number;
      /** Whether the document is `{}`. */
      empty: boolean;
    }
  | { ok: false; offset: number; reason: string };

const tab = 0x09;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;
const quote = 0x22;
const plus = 0x2b;
const comma = 0x2c;
const minus = 0x2d;
const dot = 0x2e;
const zero = 0x30;
const nine = 0x39;
const colon = 0x3a;
const openArray = 0x5b;
const backslash = 0x5c;
const lowerE = 0x65;
const openObject = 0x7b;
const closeObject = 0x7d;
/** Both closing brackets stand two places after their opening one in ASCII. */
const openToClose = 2;

const literals = ['true', 'false', 'null'];

/** No real body comes near it, and what reads the document after us may be recursive. */
const maxDepth = 10_000;

/** Strings shorter than this are walked byte by byte; past it a native search for the quote is cheaper. */
const probeBytes = 16;

class JsonFault extends Error {
  readonly offset: number;

  constructor(offset: number, reason: string) {
    super(reason);
    this.offset = offset;
  }
}

/**
 * Looks up `wanted` (ASCII names of top-level keys) in a JSON object given as UTF-8, with or without a byte order mark.
 * Anything that is not one whole JSON object is `ok: false`, with the offset of the byte at fault.
 */
export function peekJson(body: Buffer, wanted: readonly string[]): JsonPeek {
  try {
    return readDocument(body, wanted);
  } catch (error) {
    if (error instanceof JsonFault) return { ok: false, offset: error.offset, reason: error.message };
    throw error;
  }
}

/** The value of a field that `peekJson` found. Throws a SyntaxError if a string in it is malformed. */
export function fieldValue(body: Buffer, field: ByteRange): unknown {
  return JSON.parse(body.toString('utf8', field.start, field.end));
}

function readDocument(body: Buffer, wanted: readonly string[]): JsonPeek {
  const open = skipSpace(body, hasByteOrderMark(body) ? 3 : 0);
  if (body[open] !== openObject) throw new JsonFault(open, 'expected an object');
  const fields = new Map<string, JsonField>();
  const first = skipSpace(body, open + 1);
  const empty = body[first] === closeObject;
  const end = empty ? first : readMembers(body, first, wanted, fields);
  const rest = skipSpace(body, end + 1);
  if (rest < body.length) throw new JsonFault(rest, 'expected nothing after the closing brace');
  return { ok: true, fields, end, empty };
}

/** From the first key to the closing brace, whose offset it returns. */
function readMembers(body: Buffer, first: number, wanted: readonly string[], fields: Map<string, JsonField>): number {
  for (let keyStart = first; ; ) {
    const keyEnd = skipString(body, keyStart);
    const start = skipColon(body, keyEnd);
    const end = skipValue(body, start);
    const name = findName(body, keyStart, keyEnd, wanted);
    if (name !== undefined) noteField(fields, name, { keyStart, start, end });
    const next = skipSpace(body, end);
    if (body[next] === closeObject) return next;
    if (body[next] !== comma) throw new JsonFault(next, 'expected a comma or a closing brace');
    keyStart = skipSpace(body, next + 1);
  }
}

function noteField(fields: Map<string, JsonField>, name: string, found: ByteRange & { keyStart: number }): void {
  const previous = fields.get(name);
  const earlier = previous ? [...previous.earlier, { start: previous.start, end: previous.end }] : [];
  fields.set(name, { ...found, earlier });
}

/** Which wanted name the key is; the range includes its quotes. */
function findName(body: Buffer, keyStart: number, keyEnd: number, wanted: readonly string[]): string | undefined {
  const start = keyStart + 1;
  const end = keyEnd - 1;
  for (let at = start; at < end; at++) {
    if (body[at] === backslash) return findEscapedName(body.toString('utf8', keyStart, keyEnd), wanted);
  }
  return wanted.find((name) => name.length === end - start && startsWith(body, start, name));
}

function startsWith(body: Buffer, start: number, text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    if (body[start + index] !== text.charCodeAt(index)) return false;
  }
  return true;
}

function findEscapedName(key: string, wanted: readonly string[]): string | undefined {
  try {
    const decoded: unknown = JSON.parse(key);
    return wanted.find((name) => name === decoded);
  } catch {
    return undefined; // A malformed escape: no name of ours, and the upstream's to refuse.
  }
}

/** From a value's first byte to the offset after its last. */
function skipValue(body: Buffer, start: number): number {
  const byte = body[start];
  return byte === openObject || byte === openArray ? skipContainer(body, start) : skipScalar(body, start);
}

/** Not recursive: the depth is the client's choice, the stack is ours. */
function skipContainer(body: Buffer, start: number): number {
  const closers: number[] = [];
  for (let at = start; ; ) {
    const byte = body[at];
    if (byte === openObject || byte === openArray) {
      if (closers.length === maxDepth) throw new JsonFault(at, `nested deeper than ${maxDepth}`);
      closers.push(byte + openToClose);
      at = skipSpace(body, at + 1);
      if (body[at] !== byte + openToClose) {
        if (byte === openObject) at = skipKey(body, at);
        continue;
      }
    } else {
      at = skipSpace(body, skipScalar(body, at));
    }
    at = skipClosers(body, at, closers);
    if (closers.length === 0) return at;
    if (body[at] !== comma) throw new JsonFault(at, 'expected a comma or a closing bracket');
    at = skipSpace(body, at + 1);
    if (closers[closers.length - 1] === closeObject) at = skipKey(body, at);
  }
}

/** Leaves every container that ends here; stops right after the outermost one. */
function skipClosers(body: Buffer, start: number, closers: number[]): number {
  let at = start;
  while (body[at] === closers[closers.length - 1]) {
    closers.pop();
    at++;
    if (closers.length === 0) return at;
    at = skipSpace(body, at);
  }
  return at;
}

function skipKey(body: Buffer, start: number): number {
  return skipColon(body, skipString(body, start));
}

function skipColon(body: Buffer, start: number): number {
  const at = skipSpace(body, start);
  if (body[at] !== colon) throw new JsonFault(at, 'expected a colon');
  return skipSpace(body, at + 1);
}

function skipScalar(body: Buffer, start: number): number {
  const byte = body[start];
  if (byte === quote) return skipString(body, start);
  if (byte === minus || isDigit(byte)) return skipNumber(body, start);
  const literal = literals.find((text) => startsWith(body, start, text));
  if (literal !== undefined) return start + literal.length;
  throw new JsonFault(start, start < body.length ? 'expected a value' : 'ended too early');
}

/** From the opening quote to the offset after the closing one. */
function skipString(body: Buffer, start: number): number {
  if (body[start] !== quote) throw new JsonFault(start, 'expected a string');
  for (let from = start + 1; ; ) {
    const probeEnd = Math.min(from + probeBytes, body.length);
    while (from < probeEnd) {
      const byte = body[from];
      if (byte === quote) return from + 1;
      from += byte === backslash ? 2 : 1;
    }
    const closing = body.indexOf(quote, from);
    if (closing === -1) throw new JsonFault(start, 'a string that never ends');
    if (!isEscaped(body, from, closing)) return closing + 1;
    from = closing + 1;
  }
}

/** Whether an odd number of backslashes stands before `closing`; `from` is known to be outside an escape. */
function isEscaped(body: Buffer, from: number, closing: number): boolean {
  let at = closing;
  while (at > from && body[at - 1] === backslash) at--;
  return (closing - at) % 2 === 1;
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
  while (isDigit(body[at])) at++;
  if (at === start) throw new JsonFault(start, 'expected a digit');
  return at;
}

function isDigit(byte = 0): boolean {
  return byte >= zero && byte <= nine;
}

function skipSpace(body: Buffer, start: number): number {
  for (let at = start; ; at++) {
    const byte = body[at];
    if (byte === undefined || byte > space) return at; // Nearly always, so asked first.
    if (byte !== space && byte !== lineFeed && byte !== carriageReturn && byte !== tab) return at;
  }
}

function hasByteOrderMark(body: Buffer): boolean {
  return body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf;
}
