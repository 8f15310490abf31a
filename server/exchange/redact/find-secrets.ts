/**
 * Finds known secrets in untrusted text: verbatim, escaped (`\u0041` in JSON, `%41` in URLs, `&#65;` in HTML, nested up
 * to three deep), and base64-encoded at any offset. Runs in linear time.
 */
import type { ByteRange } from '../../apis/json/json-scan.ts';
import { secretRangeSteps, sluiceKey } from '../../contract/secret-shape.ts';
import { finish, type Steps } from '../../ground/promises.ts';

/** Shorter values (`none`, `ollama`) are placeholders, and occur in texts by chance. */
const minSecretLength = 8;
/** Maximum nesting of escapes. */
const maxDepth = 3;
/** Texts up to this length are searched for a secret in less than a millisecond. */
const stepBytes = 256 * 1024;
/** Escapes, or secrets. */
const perStep = 2_000;
const isAscii = /^[\x20-\x7e]*$/;
/** ASCII without `%`, `&` and the backslash. */
const isUnescaped = /^[ -$'-[\]-~]*$/;

const keyShape = new RegExp(sluiceKey);
const shortestKey = 30;

/** A text with some of its escapes decoded. */
interface Reading {
  bytes: Buffer;
  /** Offset in the original text. */
  startOf(at: number): number;
}

/** Positions of the secrets in `text`, in order and without overlaps. */
export function findSecrets(text: Buffer, secrets: readonly string[]): ByteRange[] {
  const forms = secrets.filter(isSecret).flatMap(formsOf);
  return forms.length === 0 ? [] : finish(findingSteps(text, { forms, shapes: false })).known;
}

interface Found {
  /** The secrets themselves. */
  known: ByteRange[];
  /** What has the form of a key. */
  shapes: ByteRange[];
}

/** Positions of both, likewise escaped. */
export function findingAll(text: Buffer, secrets: readonly string[]): Steps<Found> {
  return findingSteps(text, { forms: secrets.filter(isSecret).flatMap(formsOf), shapes: true });
}

/** Reads the text as it is, and with its escapes decoded once, twice and so on. */
function* findingSteps(text: Buffer, sought: { forms: readonly Buffer[]; shapes: boolean }): Steps<Found> {
  const found: Found = { known: [], shapes: [] };
  let reading: Reading | null = asWritten(text);
  for (let depth = 0; reading; depth++) {
    for (const form of sought.forms) {
      yield* findForm(reading, form, found.known);
      if (text.length > stepBytes) yield;
    }
    if (sought.shapes) yield* findShapes(reading, found.shapes);
    reading = depth < maxDepth ? yield* undoEscapes(reading) : null;
  }
  return { known: mergeRanges(found.known), shapes: mergeRanges(found.shapes) };
}

function* findShapes({ bytes, startOf }: Reading, ranges: ByteRange[]): Steps<void> {
  for (const [index, { start, end }] of (yield* secretRangeSteps(bytes.toString('latin1'))).entries()) {
    if (index % perStep === perStep - 1) yield;
    // `\\npm_…` is a line break and `pm_…`, which a further reading tells apart.
    if (start > 0 && readEscape(bytes, start - 1) !== noEscape) continue;
    ranges.push({ start: startOf(start), end: startOf(end) });
  }
}

/** The text of a JSON string. */
export function unescaped(text: Buffer): Reading {
  return finish(undoEscapes(asWritten(text))) ?? asWritten(text);
}

function asWritten(bytes: Buffer): Reading {
  return { bytes, startOf: (at) => at };
}

/** Whether a header, URL or name contains one of the secrets, or any key of a Sluice. */
export function containsSecret(text: string, secrets: readonly string[]): boolean {
  return (mayHoldSecret(text, secrets) && findSecrets(Buffer.from(text), secrets).length > 0) || containsKey(text);
}

function containsKey(text: string): boolean {
  if (text.length < shortestKey) return false;
  if (keyShape.test(text)) return true;
  if (isUnescaped.test(text)) return false;
  let reading: Reading | null = asWritten(Buffer.from(text));
  for (let depth = 0; reading && depth < maxDepth; depth++) {
    reading = finish(undoEscapes(reading));
    if (reading && keyShape.test(reading.bytes.toString('latin1'))) return true;
  }
  return false;
}

/** Whether there is nothing in it that an escape could begin with. */
export function holdsNoEscape(text: string): boolean {
  return isUnescaped.test(text);
}

/** Quick check for each header; false is reliable, true needs `findSecrets`. */
export function mayHoldSecret(text: string, secrets: readonly string[]): boolean {
  let shortest = Number.POSITIVE_INFINITY;
  for (const secret of secrets) {
    // The base64 form is longer than the secret itself.
    if (!isSecret(secret) || secret.length > text.length) continue;
    if (text.includes(secret)) return true;
    shortest = Math.min(shortest, secret.length);
  }
  return shortest <= text.length && (!isUnescaped.test(text) || longestRun(text) >= shortest);
}

function longestRun(text: string): number {
  let longest = 0;
  let start = 0;
  for (let at = 0; at <= text.length; at++) {
    if (isBase64(text.charCodeAt(at))) continue;
    longest = Math.max(longest, at - start);
    start = at + 1;
  }
  return longest;
}

/** In either alphabet of base64. */
function isBase64(code: number): boolean {
  const isLetter = (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a;
  // `/` and the digits, `+`, `-`, `_`.
  return isLetter || (code >= 0x2f && code <= 0x39) || code === 0x2b || code === 0x2d || code === 0x5f;
}

function isSecret(secret: string): boolean {
  return secret.length >= minSecretLength;
}

/** A secret from a header is a byte string, which may be UTF-8 or latin1. */
function formsOf(secret: string): Buffer[] {
  const readings = isAscii.test(secret) ? [Buffer.from(secret)] : [Buffer.from(secret), Buffer.from(secret, 'latin1')];
  return readings.flatMap((bytes) => [bytes, ...base64Forms(bytes)]);
}

/** The part of the base64 encoding that does not depend on the surrounding text, for each of the three alignments. */
function base64Forms(secret: Buffer): Buffer[] {
  const forms = [0, 1, 2].map((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), secret]).toString('base64');
    return text.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + secret.length) * 8) / 6));
  });
  const inAddresses = forms.map((form) => form.replaceAll('+', '-').replaceAll('/', '_'));
  return [...new Set([...forms, ...inAddresses])].map((form) => Buffer.from(form));
}

function* findForm({ bytes, startOf }: Reading, form: Buffer, ranges: ByteRange[]): Steps<void> {
  let at = bytes.indexOf(form);
  for (let count = 1; at !== -1; count++) {
    if (count % perStep === 0) yield;
    const end = at + form.length;
    ranges.push({ start: startOf(at), end: startOf(end) });
    at = bytes.indexOf(form, end);
  }
}

/** Decodes one level of escapes; null if there are none. */
function* undoEscapes({ bytes, startOf }: Reading): Steps<Reading | null> {
  // A decoded escape is never longer than its source.
  const decoded = Buffer.allocUnsafe(bytes.length);
  /** Where escapes begin and end: their offsets in the decoded bytes, and in these. */
  const [decodedMarks, marks] = [new Offsets(), new Offsets()];
  let [length, from] = [0, 0];
  const escapes = new EscapeMarks(bytes);
  let count = 0;
  for (let at = escapes.next(0); at < bytes.length; at = escapes.next(Math.max(from, at + 1))) {
    if (++count % perStep === 0) yield;
    const encoded = readEscape(bytes, at);
    if (encoded === noEscape) continue;
    length += bytes.copy(decoded, length, from, at);
    decodedMarks.push(length);
    marks.push(at);
    length = writeCharacter(decoded, length, encoded);
    from = at + escapeLength(encoded);
    decodedMarks.push(length);
    marks.push(from);
  }
  if (from === 0) return null;
  length += bytes.copy(decoded, length, from);
  const sourceOf = (at: number) => {
    const index = decodedMarks.lastAtMost(at);
    return marks.at(index) + at - decodedMarks.at(index);
  };
  return { bytes: decoded.subarray(0, length), startOf: (at) => startOf(sourceOf(at)) };
}

/** Where escapes may begin. Each byte is searched once for each kind of mark. */
class EscapeMarks {
  readonly #bytes: Buffer;
  readonly #next = [-1, -1, -1];

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** At or after `from`, which must not decrease; the length if there is none. */
  next(from: number): number {
    for (const [index, mark] of escapeMarks.entries()) {
      if ((this.#next[index] ?? 0) >= from) continue;
      const at = this.#bytes.indexOf(mark, from);
      this.#next[index] = at === -1 ? this.#bytes.length : at;
    }
    return Math.min(...this.#next);
  }
}

const escapeMarks = ['\\', '%', '&#'];

/** Offsets in order, the first of which is 0. A list of millions grows without being copied as an array is. */
class Offsets {
  static readonly #perChunk = 4_096;
  readonly #chunks = [new Uint32Array(Offsets.#perChunk)];
  #length = 1;

  push(offset: number): void {
    const index = this.#length++ % Offsets.#perChunk;
    if (index === 0) this.#chunks.push(new Uint32Array(Offsets.#perChunk));
    const chunk = this.#chunks.at(-1);
    if (chunk) chunk[index] = offset;
  }

  at(index: number): number {
    return this.#chunks[Math.floor(index / Offsets.#perChunk)]?.[index % Offsets.#perChunk] ?? 0;
  }

  /** The index of the last one that is at most `most`. */
  lastAtMost(most: number): number {
    let [low, high] = [0, this.#length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (this.at(middle) <= most) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

/** Sorted, those that overlap joined. */
export function mergeRanges(ranges: readonly ByteRange[]): ByteRange[] {
  const merged: ByteRange[] = [];
  for (const { start, end } of ranges.toSorted((one, other) => one.start - other.start)) {
    const last = merged.at(-1);
    if (last && start < last.end) last.end = Math.max(last.end, end);
    else merged.push({ start, end });
  }
  return merged;
}

const noEscape = 0;

const backslash = 0x5c;
const percent = 0x25;
const ampersand = 0x26;
const hash = 0x23;
const semicolon = 0x3b;
const lowerU = 0x75;
const lowerX = 0x78;
/** Characters that a backslash merely quotes: `"`, `'`, `/`, `\`. */
const escapable: ReadonlySet<number | undefined> = new Set([0x22, 0x27, 0x2f, backslash]);
/** Letters that stand for a character that ends words: `\\n`. */
const controls: ReadonlyMap<number | undefined, number> = new Map(
  Object.entries({ b: 0x08, t: 0x09, n: 0x0a, f: 0x0c, r: 0x0d }).map(([letter, code]) => [letter.charCodeAt(0), code]),
);
const maxEntityDigits = 6;
/** An encoded escape combines its length, whether it denotes a byte, and the code. */
const lengthUnit = 0x20000;
const byteMark = 0x10000;

/**
 * Reads character escapes of JSON and programming languages (`\u0041`, `\x41`, `\/`), URLs (`%41`) and HTML (`&#65;`,
 * `&#x41;`). An escape is encoded as a number, so that a loop over many bytes allocates no objects.
 *
 * The escape that begins at `at`, for `escapeLength` and `writeCharacter`; `noEscape` if there is none.
 */
function readEscape(bytes: Buffer, at: number): number {
  const byte = bytes[at];
  if (byte === percent) return encode(3, readHex(bytes, at + 1, 2), byteMark);
  if (byte === ampersand) return bytes[at + 1] === hash ? readEntity(bytes, at) : noEscape;
  if (byte !== backslash) return noEscape;
  const next = bytes[at + 1];
  if (next === lowerU) return encode(6, readHex(bytes, at + 2, 4));
  if (next === lowerX) return encode(4, readHex(bytes, at + 2, 2));
  return encode(2, controls.get(next) ?? (escapable.has(next) ? (next ?? -1) : -1));
}

function escapeLength(encoded: number): number {
  return Math.floor(encoded / lengthUnit);
}

/** Writes the escaped character in UTF-8 and returns the offset after it. */
function writeCharacter(to: Buffer, at: number, encoded: number): number {
  const code = encoded % byteMark;
  if (code < 0x80 || encoded % lengthUnit >= byteMark) {
    to[at] = code;
    return at + 1;
  }
  return at + to.write(String.fromCharCode(code), at);
}

function encode(length: number, code: number, mark = 0): number {
  return code < 0 ? noEscape : length * lengthUnit + mark + code;
}

/** -1 unless all of the digits are hexadecimal. */
function readHex(bytes: Buffer, at: number, digits: number): number {
  let value = 0;
  for (let index = at; index < at + digits; index++) {
    const digit = digitOf(bytes[index]);
    if (digit === -1) return -1;
    value = value * 16 + digit;
  }
  return value;
}

function readEntity(bytes: Buffer, at: number): number {
  const isHex = ((bytes[at + 2] ?? 0) | 0x20) === lowerX;
  const start = at + (isHex ? 3 : 2);
  let value = 0;
  let index = start;
  for (; bytes[index] !== semicolon; index++) {
    const digit = digitOf(bytes[index]);
    if (digit === -1 || (!isHex && digit > 9) || index - start === maxEntityDigits) return noEscape;
    value = value * (isHex ? 16 : 10) + digit;
  }
  // Secrets contain no character outside the Basic Multilingual Plane.
  return index === start || value >= byteMark ? noEscape : encode(index + 1 - at, value);
}

function digitOf(byte = 0): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
