/** How much of a body is text. Pure. */

const mark = Buffer.from(';base64,');
const quote = 0x22;
const beginning = 'data:image';
/** Length of the longest media type of an image, with its beginning possibly escaped. */
const typeBytes = 32;
/** A data URL of this many bytes counts as one token of text, since a text-only model might read it as text. */
const pictureBytesPerToken = 16;

/** Bytes that a model may read as text, and the number of images among them. `json` is null if the body is a form. */
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
