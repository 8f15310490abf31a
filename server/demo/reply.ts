/** What a route of the demo answers, and how that is written to the socket. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

/** One server-sent event. `name` writes an `event:` line; chat streams have none. */
export interface ServerEvent {
  name?: string;
  /** JSON to be, or the literal text `[DONE]`. */
  data: object | '[DONE]';
}

type EventSource = Iterable<ServerEvent> | AsyncIterable<ServerEvent>;

export type Reply =
  | { kind: 'bytes'; status: number; headers: Record<string, string>; bytes: Uint8Array }
  | { kind: 'events'; events: EventSource };

/** Between two events, so that a stream looks like one: about 200 tokens a second. */
const EVENT_PAUSE_MS = 5;

export function json(body: unknown, headers: Record<string, string> = {}, status = 200): Reply {
  const bytes = Buffer.from(JSON.stringify(body));
  return { kind: 'bytes', status, headers: { 'content-type': 'application/json', ...headers }, bytes };
}

export function text(body: string): Reply {
  return binary(Buffer.from(body), 'text/plain; charset=utf-8');
}

export function binary(bytes: Uint8Array, contentType: string): Reply {
  return { kind: 'bytes', status: 200, headers: { 'content-type': contentType }, bytes };
}

export function events(source: EventSource): Reply {
  return { kind: 'events', events: source };
}

/** Streams whose events carry their own `type`: the `event:` line repeats it. */
export function typedEvent<Data extends { type: string }>(data: Data): ServerEvent {
  return { name: data.type, data };
}

export async function sendReply(response: ServerResponse, reply: Reply): Promise<void> {
  if (reply.kind === 'events') return sendEvents(response, reply.events);
  response.writeHead(reply.status, { ...reply.headers, 'content-length': String(reply.bytes.byteLength) });
  response.end(reply.bytes);
}

async function sendEvents(response: ServerResponse, source: EventSource): Promise<void> {
  // The signal ends a wait for `drain` that a vanished client would otherwise never answer.
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' });
  response.flushHeaders();
  try {
    for await (const event of source) {
      if (!response.write(formatEvent(event))) await once(response, 'drain', { signal: gone.signal });
      await pause(EVENT_PAUSE_MS, undefined, { signal: gone.signal });
    }
    response.end();
  } catch {
    // The client is gone, or the source failed: then a cut connection is the one sign that the stream is not complete.
    response.destroy();
  }
}

function formatEvent(event: ServerEvent): string {
  const data = typeof event.data === 'string' ? event.data : JSON.stringify(event.data);
  return event.name ? `event: ${event.name}\ndata: ${data}\n\n` : `data: ${data}\n\n`;
}
