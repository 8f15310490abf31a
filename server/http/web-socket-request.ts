/** Recognises WebSocket requests (RFC 6455, 4.1), and builds the errors for those that cannot be served. */

import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import http from 'node:http';
import type { Socket } from 'node:net';
import type { Registry, RequestLocation } from '../apis/registry.ts';
import { GatewayError } from '../contract/errors.ts';
import { boundedPattern } from '../ground/bounded-pattern.ts';

export function asksForWebSocket(headers: IncomingHttpHeaders): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket';
}

/** Whether the request opens a WebSocket. Other upgrades (`h2c` of Java's HttpClient) are answered as plain requests. */
export function opensSession({ method, url = '/', headers }: IncomingMessage, registry: Registry): boolean {
  return method === 'GET' && asksForWebSocket(headers) && registry.opensSession(registry.locate(url, headers));
}

/** The error for a WebSocket request on any other path, such as that of Gemini's Live API. After a 426, Codex falls back to HTTP. */
export function onlyOverHttp(registry: Registry, location: RequestLocation): GatewayError {
  const base = location.isKnown ? location.api.base : '';
  const shownUrl = `${base}${location.path.slice(0, maxShownLength)}`;
  const message = `${shownUrl} is not served over a WebSocket.`;
  if (!registry.hasPath(location)) return new GatewayError('unknown_url', message);
  return new GatewayError('upgrade_required', `${message} Send a plain HTTP request.`, {
    headers: { upgrade: 'HTTP/1.1', connection: 'upgrade, close' },
  });
}

const maxShownLength = 200;

/** The error for a plain request on a WebSocket path. */
export function onlyOverWebSocket(label: string): GatewayError {
  return new GatewayError('upgrade_required', `${label} is a WebSocket. Connect to it with "Upgrade: websocket".`, {
    headers: { upgrade: 'websocket', connection: 'upgrade, close' },
  });
}

const keyShape = boundedPattern(/^[+/0-9A-Za-z]{22}==$/);

/** @throws GatewayError `malformed_http` for an invalid handshake */
export function checkHandshake(headers: IncomingHttpHeaders): void {
  const key = headers['sec-websocket-key'];
  if (headers['sec-websocket-version'] !== '13') {
    throw new GatewayError('malformed_http', 'This WebSocket handshake has no "Sec-WebSocket-Version: 13".', {
      headers: { 'sec-websocket-version': '13' },
    });
  }
  if (key === undefined || !keyShape.test(key)) {
    throw new GatewayError('malformed_http', 'This WebSocket handshake has no valid Sec-WebSocket-Key.');
  }
}

/** Limit for bytes received before the 101; a client must wait for it before it sends messages. */
const maxEarlyBytes = 64 * 1024;

/** The connection of an upgrade request, detached from Node's HTTP server. */
export class UpgradedConnection {
  /** Answers over HTTP, if used, and then closes the connection. Emits `close` if the client leaves first. */
  readonly response: ServerResponse;
  readonly #socket: Socket;
  readonly #early: Buffer[];
  #earlyBytes = 0;

  constructor(request: IncomingMessage, socket: Socket, head: Buffer) {
    this.#socket = socket;
    this.#early = [head];
    this.response = new http.ServerResponse(request);
    this.response.shouldKeepAlive = false;
    this.response.assignSocket(socket);
    this.response.once('finish', () => {
      this.response.detachSocket(socket);
      socket.destroySoon();
    });
    socket.on('error', ignore);
    // Node detects a disconnect only while the socket is read.
    socket.on('data', this.#keep);
    socket.once('end', this.#leave);
  }

  /** Hands over the socket and the bytes received so far. */
  handOver<T>(take: (socket: Socket, early: Buffer) => T): T {
    const socket = this.#socket;
    this.response.detachSocket(socket);
    socket.off('data', this.#keep).off('end', this.#leave).off('error', ignore);
    return take(socket, Buffer.concat(this.#early));
  }

  readonly #leave = () => this.#socket.destroy();

  readonly #keep = (chunk: Buffer) => {
    this.#early.push(chunk);
    this.#earlyBytes += chunk.length;
    if (this.#earlyBytes > maxEarlyBytes) this.#socket.destroy();
  };
}

const ignore = () => {};
