/** One event of a stream, parsed once for all who look at it. */
export interface StreamEvent {
  /** Of its `event` line; empty where it has none. */
  name: string;
  /** Its data lines, joined; empty where it has none. */
  data: string;
  /** What they say in JSON; undefined where there are none, and of `[DONE]`. */
  value: unknown;
}

export const blankLine = /\r\n\r\n|\n\n|\r\r/;
export const lineEnd = /\r\n|\n|\r/;
const dataLine = /^data:/m;
// A string in JSON holds no raw line break, so what a model says is no line. `message` is what an event is called that has
// no name.
const nameLine = /^event: ?(?!message\s*$)([a-z_.]+)/m;
const leadingType = /^data: ?\{\s*"type"\s*:\s*"([a-z_.]+)"/m;
const leadingId = /"response"\s*:\s*\{\s*"id"\s*:\s*"([^"\\]+)"/;
const headBytes = 400;

/**
 * Null for an event whose data no client could parse. Comments and fields without data are sound: clients pass over them.
 * @param text a whole one, with its blank line or without
 */
export function readEvent(text: string): StreamEvent | null {
  return readOneLine(text) ?? readLines(text);
}

/** What can be told by the beginning of an event that is too large to be held. */
export function readBeginning(bytes: Buffer): StreamEvent {
  const head = bytes.toString('latin1', 0, headBytes);
  const [type, id] = [leadingType, leadingId].map((pattern) => pattern.exec(head)?.[1]);
  return { name: nameIn(head), data: '', value: { type, response: { id } } };
}

/** The data of an event, its lines joined; empty where it has none. */
export function dataOf(event: string): string {
  const lines = event.split(lineEnd).filter((line) => line.startsWith('data:'));
  return lines.map((line) => line.slice('data:'.length)).join('\n');
}

export function writeEvent({ name, data }: StreamEvent): string {
  const lines = data.split('\n').map((line) => `data: ${line}\n`);
  return `${name === '' ? '' : `event: ${name}\n`}${lines.join('')}\n`;
}

/** What nearly all are: one line of data, after one for their name or none. */
function readOneLine(text: string): StreamEvent | null {
  const at = text.startsWith('data:') ? 0 : text.indexOf('\ndata:') + 1;
  if (!text.startsWith('data:', at)) return null;
  return readData(at === 0 ? '' : nameIn(text.slice(0, at)), text.slice(at + 'data:'.length));
}

function readLines(text: string): StreamEvent | null {
  const name = nameIn(text);
  if (!dataLine.test(text)) return { name, data: '', value: undefined };
  const data = dataOf(text).trim();
  return data === '[DONE]' ? { name, data, value: undefined } : readData(name, data);
}

function readData(name: string, data: string): StreamEvent | null {
  try {
    return { name, data: data.trim(), value: JSON.parse(data) };
  } catch {
    return null;
  }
}

function nameIn(lines: string): string {
  return nameLine.exec(lines)?.[1] ?? '';
}
