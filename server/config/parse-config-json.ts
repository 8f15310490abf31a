/** Invalid JSON. The message gives the position but does not quote the text, which may contain a secret. */
export class JsonSyntaxError extends SyntaxError {
  override readonly name = 'JsonSyntaxError';
}

/** `JSON.parse` for files edited by people: accepts a byte order mark and reports the position of an error. */
export function parseConfigJson(text: string): unknown {
  const content = text.startsWith('\uFEFF') ? text.slice(1) : text;
  try {
    return JSON.parse(content);
  } catch {
    throw new JsonSyntaxError(`not valid JSON at ${placeOf(content, faultOffset(content))}`);
  }
}

/**
 * Offset of the first invalid character. V8 does not always report it, so it is found by bisection: a valid prefix
 * fails with "unexpected end", a faulty one does not.
 */
function faultOffset(text: string): number {
  let validLength = 0;
  let invalidLength = text.length + 1;
  while (invalidLength - validLength > 1) {
    const middle = (validLength + invalidLength) >>> 1;
    if (isBeginningOfJson(text.slice(0, middle))) validLength = middle;
    else invalidLength = middle;
  }
  return validLength;
}

function isBeginningOfJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    const message = error instanceof Error ? error.message : '';
    const position = /at position (\d+)/.exec(message)?.[1];
    return /^(Unexpected end|Unterminated string)/.test(message) || Number(position) === text.length;
  }
}

function placeOf(text: string, offset: number): string {
  if (offset >= text.length) return 'its end: it stops too early';
  const before = text.slice(0, offset).split('\n');
  return `line ${before.length}, column ${(before.at(-1) ?? '').length + 1}`;
}
