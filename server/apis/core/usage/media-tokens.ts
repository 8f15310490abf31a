/**
 * How many tokens pictures, documents and recordings have, in every estimate: of reservations, of the ledger, of
 * `count_tokens`, and of the first event of an answer. Pure.
 */

export type MediaKind = 'image' | 'document' | 'audio' | 'video';

/** The largest image that Anthropic does not scale down; other services charge less. */
const tokensPerImage = 1_600;
/** OpenAI's image of `detail: low`. */
const tokensPerSmallImage = 85;
/** A page has about 3,000 tokens, including its image, and about 40 kB in base64. */
const tokensPerDocumentByte = 3_000 / 40_000;
/** Speech at 64 kbit/s, whose second has about 11 kB in base64, and 32 tokens at Google, more than elsewhere. */
const tokensPerSoundByte = 32 / 11_000;
/** A film at 1 Mbit/s, whose second has about 170 kB in base64, and 290 tokens at Google. */
const tokensPerFilmByte = 290 / 170_000;

/** `base64Bytes`: 0 if the medium is not in the request. */
export function mediaTokens(kind: MediaKind, base64Bytes: number, detail?: unknown): number {
  switch (kind) {
    case 'image':
      return detail === 'low' ? tokensPerSmallImage : tokensPerImage;
    case 'audio':
      return base64Bytes === 0 ? tokensPerImage : base64Bytes * tokensPerSoundByte;
    case 'video':
      return base64Bytes === 0 ? tokensPerImage : base64Bytes * tokensPerFilmByte;
    default:
      return tokensPerImage + base64Bytes * tokensPerDocumentByte;
  }
}

/** No service charges more for a picture, or for what is too short to be anything else. */
const mostTokens = 5_000;
/** A model without eyes or ears might read base64 as text, of which so much is one token. */
const mostImageBytesPerToken = 16;
const mostBytesPerToken = 8;

/** The most tokens that a medium can have. */
export function mostMediaTokens(kind: MediaKind, base64Bytes: number): number {
  return mostTokens + base64Bytes / (kind === 'image' ? mostImageBytesPerToken : mostBytesPerToken);
}
