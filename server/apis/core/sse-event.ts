import { boundedPattern } from '../../ground/bounded-pattern.ts';

/** One event of a stream, parsed once for all its consumers. */
export interface StreamEvent {
  /** From its `event` line; empty if it has none. */
  name: string;
  /** Its data lines, joined; empty if it has none. */
  data: string;
  /** The parsed data; undefined if there is none, and for `[DONE]`. */
  value: unknown;
}

// `message` is the default name.
const nameLine = boundedPattern(/^event: ?(?!message\s*$)([a-z_.]+)/);
const leadingType = boundedPattern(/^data: ?\{\s*"type"\s*:\s*"([a-z_.]+)"/m);
const leadingId = boundedPattern(/"response"\s*:\s*\{\s*"id"\s*:\s*"([^"\\]+)"/);
const headBytes = 400;

/**
 * Null for an event whose data no client could parse, including an empty `data:`. An event of comments and other fields
 * alone is valid, and has no data.
 * @param text a complete event, with or without its blank line
 */
export function readEvent(text: string): StreamEvent | null {
  const at = text.startsWith('data:') ? 0 : text.indexOf('\ndata:') + 1;
  // A line before it that ends in CR may be data as well.
  if (!text.startsWith('data:', at) || (at > 0 && text.lastIndexOf('\r', at) !== -1)) return readLines(text);
  // The usual case: one line of data, perhaps after an `event` line.
  const data = text.slice(at + 'data:'.length).trim();
  if (data.includes('\n') || data.includes('\r')) return readLines(text);
  return readData(at === 0 ? '' : nameIn(linesOf(text.slice(0, at))), data);
}

/** What the beginning reveals about an event that is too large to be held. */
export function readPartialEvent(bytes: Buffer): StreamEvent {
  const head = bytes.toString('latin1', 0, headBytes);
  const [type, id] = [leadingType, leadingId].map((pattern) => pattern.exec(head)?.[1]);
  return { name: nameIn(linesOf(head)), data: '', value: { type, response: { id } } };
}

/** Lines with any terminator. No regular expression, since an event may be long. */
export function linesOf(text: string): string[] {
  const normalized = text.includes('\r') ? text.replaceAll('\r\n', '\n').replaceAll('\r', '\n') : text;
  return normalized.split('\n');
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const colon = 0x3a;

/**
 * Whether the event has only comments and empty lines, which keep a connection alive. Allocates no string, since such
 * events may be frequent.
 */
export function isKeepAlive(event: Buffer): boolean {
  for (let at = 0; at < event.length; at++) {
    const byte = event[at];
    if (byte === lineFeed || byte === carriageReturn) continue;
    if (byte !== colon) return false;
    while (at < event.length && event[at] !== lineFeed && event[at] !== carriageReturn) at++;
  }
  return true;
}

function readLines(text: string): StreamEvent | null {
  const lines = linesOf(text);
  const data = lines.filter((line) => line.startsWith('data:')).map((line) => line.slice('data:'.length));
  const name = nameIn(lines);
  return data.length === 0 ? { name, data: '', value: undefined } : readData(name, data.join('\n').trim());
}

function readData(name: string, data: string): StreamEvent | null {
  if (data === '[DONE]') return { name, data, value: undefined };
  const value = endsAsItBegins(data) ? parse(data) : undefined;
  return value === undefined ? null : { name, data, value };
}

const ends: Record<string, string> = { '{': '}', '[': ']', '"': '"' };

/** Detects most invalid JSON: an exception would cost more than all other work on the event. */
function endsAsItBegins(data: string): boolean {
  const first = data[0] ?? '';
  const last = ends[first];
  return last === undefined ? '-0123456789tfn'.includes(first) && first !== '' : data.endsWith(last);
}

function parse(data: string): unknown {
  try {
    const value: unknown = JSON.parse(data);
    return value;
  } catch {
    return undefined;
  }
}

function nameIn(lines: readonly string[]): string {
  for (const line of lines) {
    const name = line.startsWith('event:') ? nameLine.exec(line)?.[1] : undefined;
    if (name !== undefined) return name;
  }
  return '';
}
