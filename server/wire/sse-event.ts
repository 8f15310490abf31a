import { pattern } from '../bounded-pattern.ts';

/** One event of a stream, parsed once for all who look at it. */
export interface StreamEvent {
  /** Of its `event` line; empty where it has none. */
  name: string;
  /** Its data lines, joined; empty where it has none. */
  data: string;
  /** What they say in JSON; undefined where there are none, and of `[DONE]`. */
  value: unknown;
}

// `message` is what an event is called that has no name.
const nameLine = pattern(/^event: ?(?!message\s*$)([a-z_.]+)/);
const leadingType = pattern(/^data: ?\{\s*"type"\s*:\s*"([a-z_.]+)"/m);
const leadingId = pattern(/"response"\s*:\s*\{\s*"id"\s*:\s*"([^"\\]+)"/);
const headBytes = 400;

/**
 * Null for an event whose data no client could parse, `data:` with nothing after it among them. One of comments and other
 * fields alone is sound, and has no data.
 * @param text a whole one, with its blank line or without
 */
export function readEvent(text: string): StreamEvent | null {
  const at = text.startsWith('data:') ? 0 : text.indexOf('\ndata:') + 1;
  if (!text.startsWith('data:', at)) return readLines(text);
  // What nearly all are: one line of data, after one for their name or none.
  const data = text.slice(at + 'data:'.length).trim();
  if (data.includes('\n') || data.includes('\r')) return readLines(text);
  return readData(at === 0 ? '' : nameIn(linesOf(text.slice(0, at))), data);
}

/** What can be told by the beginning of an event that is too large to be held. */
export function readBeginning(bytes: Buffer): StreamEvent {
  const head = bytes.toString('latin1', 0, headBytes);
  const [type, id] = [leadingType, leadingId].map((pattern) => pattern.exec(head)?.[1]);
  return { name: nameIn(linesOf(head)), data: '', value: { type, response: { id } } };
}

/** However they end. No regular expression: an event may be long. */
export function linesOf(text: string): string[] {
  const plain = text.includes('\r') ? text.replaceAll('\r\n', '\n').replaceAll('\r', '\n') : text;
  return plain.split('\n');
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const colon = 0x3a;

/** Comments and empty lines alone: no more than that a connection lives. Makes no string, for there may be very many. */
export function saysNothing(event: Buffer): boolean {
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

/** Most of what is no JSON shows here: an exception costs more than all else that is done with an event. */
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
