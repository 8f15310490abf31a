/** Says what is wrong with the head of an answer that is no valid HTTP/1.1. Nothing of it is repaired: what two parsers read
 * differently lets an upstream hide one answer within another (RFC 9112, 11.1 and 11.2). */
import { boundedPattern } from '../ground/bounded-pattern.ts';

const statusLine = boundedPattern(/^HTTP\/1\.[01] \d{3}(?: |$)/);
const headerName = boundedPattern(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$/);
const tlsRecords = new Set([0x15, 0x16]);
/** HTTP/2 begins with a frame of settings, whose length has three bytes. */
const settingsFrame = 0x04;

/** Null if nothing is wrong with what there is of it, or there is nothing. Completes the sentence "Provider … sent …". */
export function problemOfHead(bytes: Buffer, maxBytes: number): string | null {
  if (bytes.length === 0) return null;
  if (tlsRecords.has(bytes[0] ?? 0) && bytes[1] === 3)
    return 'TLS where the address has http:, so it should begin with https:';
  if (bytes[0] === 0 && bytes[3] === settingsFrame) return 'HTTP/2, which was not asked for';
  const text = bytes.toString('latin1', 0, maxBytes);
  const end = text.search(/\r?\n\r?\n/);
  if (end === -1 && bytes.length >= maxBytes) return `headers of more than ${Math.floor(maxBytes / 1024)} kB`;
  const lines = (end === -1 ? text : text.slice(0, end)).split('\n');
  // The last one may not have come whole.
  const whole = end === -1 ? lines.slice(0, -1) : lines;
  const [first, ...headers] = whole;
  if (first === undefined) return startsLikeAnswer(text) ? null : noHttp;
  if (!statusLine.test(first.trimEnd())) return noHttp;
  if (first.startsWith('HTTP/1.1 101') || first.startsWith('HTTP/1.0 101'))
    return 'a change of protocol (101) that was not asked for';
  const endsWell = (line: string, index: number) => line.endsWith('\r') || (end !== -1 && index === whole.length - 1);
  if (!whole.every(endsWell) || text.startsWith('\n', end))
    return 'a head with a line that ends without a carriage return';
  return problemOfHeaders(headers.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line)));
}

function problemOfHeaders(lines: readonly string[]): string | null {
  let lengths = 0;
  let encodings = 0;
  for (const line of lines) {
    if (line.startsWith(' ') || line.startsWith('\t')) return 'a header that is folded over two lines';
    const colon = line.indexOf(':');
    if (colon === -1) return 'a header without a colon';
    const name = line.slice(0, colon);
    if (!headerName.test(name)) return 'a header whose name has a forbidden character';
    if (hasControl(line)) return `a header "${name}" with a forbidden character`;
    lengths += Number(name.toLowerCase() === 'content-length');
    encodings += Number(name.toLowerCase() === 'transfer-encoding');
  }
  if (lengths > 1) return 'the header Content-Length twice';
  return lengths > 0 && encodings > 0 ? 'both Content-Length and Transfer-Encoding' : null;
}

const noHttp = 'something that is no HTTP/1.1';

function startsLikeAnswer(text: string): boolean {
  const beginning = 'HTTP/1.';
  return text.startsWith(beginning) || beginning.startsWith(text);
}

/** Tabs are allowed. */
function hasControl(line: string): boolean {
  for (let index = 0; index < line.length; index++) {
    const code = line.charCodeAt(index);
    if ((code < 0x20 && code !== 0x09) || code === 0x7f) return true;
  }
  return false;
}
