/**
 * Over CDP, a response can only be given as a whole. A streamed response reaches the page through this loopback server
 * instead: the page's request is redirected to it without the page noticing, and the server passes on the pieces from
 * main's handler.
 */
import { randomUUID } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

const waiting = new Map<string, Response>();
let address: Promise<string> | undefined;

/** The address to which the page's request must be redirected. */
export async function bridge(reply: Response): Promise<string> {
  address ??= listen();
  const id = randomUUID();
  waiting.set(id, reply);
  return `${await address}/${id}`;
}

async function listen(): Promise<string> {
  const server = createServer(({ url = '' }, response) => {
    const id = url.slice(1);
    const reply = waiting.get(id);
    waiting.delete(id);
    if (reply) void send(reply, response);
    else response.writeHead(404).end();
  });
  server.unref();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** If the page leaves, the handler's stream ends too, as in Electron. */
async function send(reply: Response, response: ServerResponse): Promise<void> {
  response.writeHead(reply.status, Object.fromEntries(reply.headers));
  response.flushHeaders();
  if (!reply.body) return void response.end();
  await pipeline(Readable.fromWeb(reply.body as import('node:stream/web').ReadableStream), response).catch(() => {});
}
