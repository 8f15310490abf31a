/** The answers and errors of the demo's routes, and how they are written to the socket. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { isObject } from '../contract/is-object.ts';

/** One server-sent event. `name` writes an `event:` line; chat streams have none. */
export interface ServerEvent {
  name?: string;
  data: object | '[DONE]';
}

export type Reply =
  | { kind: 'bytes'; status: number; contentType: string; bytes: Uint8Array }
  | { kind: 'events'; events: Iterable<ServerEvent> };

/** Sent in OpenAI's form. */
export class DemoError extends Error {
  readonly status: number;
  readonly code: string | null;

  constructor(status: number, message: string, code: string | null = null) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** A random id in OpenAI's form: `chatcmpl-…`. */
export function newId(prefix: string): string {
  return prefix + randomBytes(16).toString('hex');
}

export function json(body: object, status = 200): Reply {
  return { kind: 'bytes', status, contentType: 'application/json', bytes: Buffer.from(JSON.stringify(body)) };
}

export function binary(bytes: Uint8Array, contentType: string): Reply {
  return { kind: 'bytes', status: 200, contentType, bytes };
}

export function events(source: Iterable<ServerEvent>): Reply {
  return { kind: 'events', events: source };
}

/** Events that carry their own `type`, which the `event:` line repeats. */
export function typedEvents(...data: { type: string; [field: string]: unknown }[]): Reply {
  return events(data.map((each) => ({ name: each.type, data: each })));
}

export function refusal(error: unknown): Reply {
  const { status, message, code } =
    error instanceof DemoError ? error : new DemoError(500, `The demo provider failed: ${String(error)}`);
  const type = status < 500 ? 'invalid_request_error' : 'server_error';
  return json({ error: { message, type, param: null, code } }, status);
}

/** Pause between two events: about 200 tokens a second, the speed of a fast model. */
const eventPauseMs = 5;

export async function sendReply(response: ServerResponse, reply: Reply): Promise<void> {
  if (reply.kind === 'events') return sendEvents(response, reply.events);
  const { status, contentType, bytes } = reply;
  response.writeHead(status, { 'content-type': contentType, 'content-length': bytes.byteLength });
  response.end(bytes);
}

async function sendEvents(response: ServerResponse, source: Iterable<ServerEvent>): Promise<void> {
  // Once the client has left, `drain` never comes; the signal ends the wait.
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' });
  try {
    for (const event of source) {
      if (!response.write(textOf(event))) await once(response, 'drain', { signal: gone.signal });
      await pause(eventPauseMs, undefined, { signal: gone.signal });
    }
    response.end();
  } catch {
    // A broken connection is the only sign that a stream is incomplete.
    response.destroy();
  }
}

function textOf({ name, data }: ServerEvent): string {
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  return name ? `event: ${name}\ndata: ${text}\n\n` : `data: ${text}\n\n`;
}

export interface Call {
  /** The video that the path names; empty if it names none. */
  readonly id: string;
  /** The body's fields, from JSON or a form. A form's values are texts and files; of a repeated one the last counts. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Milliseconds since 1970. */
  now(): number;
}

/** @throws DemoError if the body is malformed */
export async function readFields(request: IncomingMessage): Promise<Call['fields']> {
  if (request.method !== 'POST') return {};
  const contentType = request.headers['content-type'] ?? '';
  const bytes = await buffer(request);
  try {
    const fields: unknown = contentType.startsWith('multipart/form-data')
      ? Object.fromEntries(await formOf(bytes, contentType))
      : JSON.parse(bytes.toString());
    if (isObject(fields)) return fields;
  } catch {
    // Refused below, like JSON that is no object.
  }
  throw new DemoError(400, 'We could not parse the body of your request: it has to be a JSON object or a form.');
}

function formOf(bytes: Buffer, contentType: string): Promise<FormData> {
  return new Response(new Uint8Array(bytes), { headers: { 'content-type': contentType } }).formData();
}

/** A boolean of JSON, or its text in a form. */
export function isTrue(value: unknown): boolean {
  return value === true || value === 'true';
}
