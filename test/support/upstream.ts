import http, { type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request that a scripted upstream received. */
export interface SeenRequest {
  method: string;
  url: string;
  headers: http.IncomingHttpHeaders;
  body: Buffer;
}

export type Script = (request: SeenRequest, response: ServerResponse, raw: IncomingMessage) => void | Promise<void>;

/**
 * Longer than any test. By itself, Node ends a connection that was idle for some seconds: on a busy machine just when the
 * gateway sends the next request on it, which is then a failed attempt that no test has asked for.
 */
const keepAliveTimeout = 600_000;

/** An upstream on loopback that answers as the test specifies and records its requests. */
export interface ScriptedUpstream {
  readonly origin: string;
  /** Includes `/v1`. */
  readonly baseUrl: string;
  readonly seen: SeenRequest[];
  /** The number of connections accepted so far. */
  readonly connections: number;
  /** Changes the answer from now on. */
  answer(script: Script): void;
  stop(): Promise<void>;
}

export async function startUpstream(
  script: Script = (_request, response) => json(response, { ok: true }),
): Promise<ScriptedUpstream> {
  const seen: SeenRequest[] = [];
  let current = script;
  let connections = 0;
  const server: Server = http.createServer({ keepAliveTimeout }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const received = {
        method: request.method ?? '',
        url: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks),
      };
      seen.push(received);
      void current(received, response, request);
    });
    request.on('error', () => {});
    response.on('error', () => {});
  });
  server.on('connection', () => connections++);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;
  return {
    origin,
    baseUrl: `${origin}/v1`,
    seen,
    get connections() {
      return connections;
    },
    answer(next) {
      current = next;
    },
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

export function json(
  response: ServerResponse,
  value: unknown,
  status = 200,
  headers: http.OutgoingHttpHeaders = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
}

export function eventStream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
}

/** Sends the bytes cut at these offsets, with a separate write for each piece, and ends the response. */
export async function sendPieces(response: ServerResponse, bytes: Buffer, cuts: readonly number[]): Promise<void> {
  await writePieces(response, bytes, cuts);
  response.end();
}

/** The same, but leaves the response open. */
export async function writePieces(response: ServerResponse, bytes: Buffer, cuts: readonly number[]): Promise<void> {
  const bounds = [0, ...cuts, bytes.length];
  for (let index = 1; index < bounds.length; index++) {
    const piece = bytes.subarray(bounds[index - 1], bounds[index]);
    if (piece.length > 0) await new Promise<void>((resolve) => response.write(piece, () => setImmediate(resolve)));
  }
}

/** Offsets of cuts at irregular distances, from a simple generator so that a failure can be reproduced. */
export function oddCuts(length: number, seed = 7): number[] {
  const cuts: number[] = [];
  let state = seed;
  for (let at = 1; at < length; ) {
    cuts.push(at);
    state = (state * 1103515245 + 12345) % 2147483648;
    at += 1 + (state % 37);
  }
  return cuts;
}
