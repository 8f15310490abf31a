/** Text that is not JSON. The message gives the place and never quotes the text: a secret may have been typed there. */
export class JsonSyntaxError extends SyntaxError {
  override readonly name = 'JsonSyntaxError';
}

/** `JSON.parse` for files that people edit: takes a byte order mark, and says where the fault is. */
export function parseJson(text: string): unknown {
  const content = text.startsWith('\uFEFF') ? text.slice(1) : text;
  try {
    return JSON.parse(content);
  } catch {
    throw new JsonSyntaxError(`not valid JSON at ${placeOf(content, faultOffset(content))}`);
  }
}

/**
 * Offset of the first character that cannot stand where it stands. V8 does not always tell it, and quotes the text
 * instead; but a beginning of the text that is right so far fails only for want of more, which can be told from a fault.
 */
function faultOffset(text: string): number {
  let right = 0;
  let wrong = text.length + 1;
  while (wrong - right > 1) {
    const middle = (right + wrong) >>> 1;
    if (isBeginningOfJson(text.slice(0, middle))) right = middle;
    else wrong = middle;
  }
  return right;
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
