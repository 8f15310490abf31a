/** Reads the events of a captured stream. Pure. */
export interface CapturedEvent {
  /** From the `event` line; empty if there is none. */
  name: string;
  data: string;
  /** The data as JSON; undefined if it is not JSON. */
  value: unknown;
}

/** Whether a response is an event stream, by its content type, or by its start if no content type was kept. */
export function isEventStream(text: string, contentType: string | null): boolean {
  if (contentType !== null) return contentType.toLowerCase().startsWith('text/event-stream');
  return /^\s*(?:data|event|id|retry|):/.test(text.slice(0, 200));
}

/** Leaves out comments and events without data. The last event may be truncated and then has no `value`. */
export function readStreamEvents(text: string): CapturedEvent[] {
  const events: CapturedEvent[] = [];
  let name = '';
  let data: string[] = [];
  const flush = () => {
    if (data.length > 0) {
      const joined = data.join('\n');
      events.push({ name, data: joined, value: parseIfJson(joined) });
    }
    name = '';
    data = [];
  };
  for (const line of text.split(/\r\n|\n|\r/)) {
    if (line === '') flush();
    else if (line.startsWith('data:')) data.push(fieldOf(line));
    else if (line.startsWith('event:')) name = fieldOf(line);
  }
  flush();
  return events;
}

function fieldOf(line: string): string {
  const value = line.slice(line.indexOf(':') + 1);
  return value.startsWith(' ') ? value.slice(1) : value;
}

function parseIfJson(data: string): unknown {
  if (!/^\s*[{[]/.test(data)) return undefined;
  try {
    return JSON.parse(data);
  } catch {
    return undefined;
  }
}
