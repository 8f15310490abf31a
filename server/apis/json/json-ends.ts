/** Finds the end of a JSON string or number, as strictly as `JSON.parse`. */

const quote = 0x22;
const zero = 0x30;
const nine = 0x39;
const backslash = 0x5c;
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
