/** Counts JSON values without parsing them, for an estimate of the memory that parsing would take. */

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const openList = 0x5b;
const backslash = 0x5c;
const openObject = 0x7b;

/** At least the number of values in a text that contains JSON: each one follows a comma, a colon or a bracket. */
export function countValues(text: Buffer): number {
  let values = 1;
  for (let at = 0; at < text.length; at++) {
    const byte = text[at];
    if (byte === quote) at = endOfString(text, at + 1);
    else if (byte === comma || byte === colon || byte === openList || byte === openObject) values++;
  }
  return values;
}

/** The offset of the closing quote, or the end of the text. */
function endOfString(text: Buffer, from: number): number {
  let at = from;
  while (at < text.length && text[at] !== quote) at += text[at] === backslash ? 2 : 1;
  return at;
}
