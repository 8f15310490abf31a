/**
 * Reads character escapes of JSON and programming languages (`\u0041`, `\x41`, `\/`), URLs (`%41`) and HTML (`&#65;`,
 * `&#x41;`). An escape is encoded as a number, so that a loop over many bytes allocates no objects.
 */

export const noEscape = 0;

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

/** The escape that begins at `at`, for `escapeLength` and `writeCharacter`; `noEscape` if there is none. */
export function readEscape(bytes: Buffer, at: number): number {
  const byte = bytes[at];
  if (byte === percent) return encode(3, readHex(bytes, at + 1, 2), byteMark);
  if (byte === ampersand) return bytes[at + 1] === hash ? readEntity(bytes, at) : noEscape;
  if (byte !== backslash) return noEscape;
  const next = bytes[at + 1];
  if (next === lowerU) return encode(6, readHex(bytes, at + 2, 4));
  if (next === lowerX) return encode(4, readHex(bytes, at + 2, 2));
  return encode(2, controls.get(next) ?? (escapable.has(next) ? (next ?? -1) : -1));
}

export function escapeLength(encoded: number): number {
  return Math.floor(encoded / lengthUnit);
}

/** Writes the escaped character in UTF-8 and returns the offset after it. */
export function writeCharacter(to: Buffer, at: number, encoded: number): number {
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
