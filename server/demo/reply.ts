/** The answer of a demo route, and how it is written to the socket. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

/** One server-sent event. `name` writes an `event:` line; chat streams have none. */
export interface ServerEvent {
  name?: string;
  /** Sent as JSON, or the literal text `[DONE]`. */
  data: object | '[DONE]';
}

type EventSource = Iterable<ServerEvent> | AsyncIterable<ServerEvent>;

export type Reply =
  | { kind: 'bytes'; status: number; headers: Record<string, string>; bytes: Uint8Array }
  | { kind: 'events'; events: EventSource };

/** Pause between two events: about 200 tokens a second, the speed of a fast model. */
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

/** An event that carries its own `type`, which the `event:` line repeats. */
export function typedEvent<Data extends { type: string }>(data: Data): ServerEvent {
  return { name: data.type, data };
}

/** A page of a list by the cursor parameters `limit`, `after` and `order`; newest first by default. */
export function pageOf<Item extends { id: string }>(oldestFirst: readonly Item[], query: URLSearchParams) {
  const ordered = query.get('order') === 'asc' ? oldestFirst : oldestFirst.toReversed();
  const start = ordered.findIndex((item) => item.id === query.get('after')) + 1;
  const data = ordered.slice(start, start + Number(query.get('limit') ?? 20));
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: start + data.length < ordered.length,
  };
}

export async function sendReply(response: ServerResponse, reply: Reply): Promise<void> {
  if (reply.kind === 'events') return sendEvents(response, reply.events);
  response.writeHead(reply.status, { ...reply.headers, 'content-length': String(reply.bytes.byteLength) });
  response.end(reply.bytes);
}

async function sendEvents(response: ServerResponse, source: EventSource): Promise<void> {
  // Once the client has disconnected, `drain` is never emitted; the signal ends the wait.
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
    // The client disconnected or the source failed. A broken connection is the only sign that a stream is incomplete.
    response.destroy();
  }
}

function formatEvent(event: ServerEvent): string {
  const data = typeof event.data === 'string' ? event.data : JSON.stringify(event.data);
  return event.name ? `event: ${event.name}\ndata: ${data}\n\n` : `data: ${data}\n\n`;
}
