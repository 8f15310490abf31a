/** How much of a body is text. Pure. */

const mark = Buffer.from(';base64,');
const quote = 0x22;
const beginning = 'data:image';
/** The longest name of a type of picture, and how the beginning may be escaped. */
const typeBytes = 32;
/** What calls itself a picture and is as large as this counts as text: a model might read it. */
const pictureBytesPerToken = 16;

/** Bytes that a model may read as text, and pictures within them. `json` is null where the body is a form. */
export function readableBytes(json: Buffer | null): { textBytes: number; pictures: number } {
  if (!json) return { textBytes: 0, pictures: 0 };
  let textBytes = json.length;
  let pictures = 0;
  let at = json.indexOf(mark);
  while (at !== -1) {
    const start = at + mark.length;
    const found = json.indexOf(quote, start);
    const end = found === -1 ? json.length : found;
    if (json.toString('latin1', Math.max(0, at - typeBytes), at).includes(beginning)) {
      textBytes -= Math.floor((end - start) * (1 - 1 / pictureBytesPerToken));
      pictures += 1;
    }
    at = json.indexOf(mark, end);
  }
  return { textBytes, pictures };
}
