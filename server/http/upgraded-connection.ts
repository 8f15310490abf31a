/** The connection of an upgrade request, detached from Node's HTTP server. */
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Limit for bytes received before the 101; a client must wait for it before it sends messages. */
const maxEarlyBytes = 64 * 1024;

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
