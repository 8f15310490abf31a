const mark = Buffer.from('"data"');
const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;
/** Shorter strings count as text. */
const minFileBytes = 1024;
const tokensPerPicture = 5_000;
/** A page of a document has about 3,000 tokens and 40 kB. */
const fileBytesPerToken = 8;

/** The most tokens that a request can have: at least one byte per token, except within images and documents. */
export function promptTokensOf(json: Buffer): number {
  let tokens = json.length;
  for (let at = json.indexOf(mark); at !== -1; at = json.indexOf(mark, at + mark.length)) {
    const start = startOfText(json, at + mark.length);
    const length = start === -1 ? 0 : base64Length(json, start);
    if (length >= minFileBytes) tokens -= Math.max(0, length - length / fileBytesPerToken - tokensPerPicture);
  }
  return Math.ceil(tokens);
}

/** Offset after the colon and the quote; -1 if the value is not a string. */
function startOfText(json: Buffer, from: number): number {
  let at = from;
  while ((json[at] ?? quote) <= 0x20 || json[at] === colon) at++;
  return json[at] === quote ? at + 1 : -1;
}

/** 0 if it is not base64: a model might read it as text. */
function base64Length(json: Buffer, start: number): number {
  const found = json.indexOf(quote, start);
  const end = found === -1 ? json.length : found;
  for (let at = start; at < Math.min(end, start + minFileBytes); at++) {
    if (!isBase64(json[at] ?? 0)) return 0;
  }
  return end - start;
}

function isBase64(byte: number): boolean {
  const isLetter = (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a;
  return isLetter || (byte >= 0x2f && byte <= 0x39) || byte === 0x2b || byte === 0x3d || byte === backslash;
}
