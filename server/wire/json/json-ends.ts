/** Where a string or a number of JSON ends, by what `JSON.parse` takes and nothing else. */

const quote = 0x22;
const zero = 0x30;
const nine = 0x39;
const backslash = 0x5c;
const firstPrintable = 0x20;
const letterU = 0x75;
const escapable = new Set<number | undefined>(Buffer.from('"\\/bfnrt'));
const hexDigits = new Set<number | undefined>(Buffer.from('0123456789abcdefABCDEF'));

/** Of the string whose inside begins at `from`, the offset of its closing quote; -1 if it has none, or is none. */
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

/** Of the whole number that begins at `from`, the offset after its last digit; -1 if it is none. */
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
