/** The connection of a request that asked for another protocol, which Node's server has let go of. */
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** A client has to wait for the answer to its handshake before it sends anything. */
const maxEarlyBytes = 64 * 1024;

export class UpgradedConnection {
  /** Refuses over HTTP, if it is used, and then closes the connection. Emits `close` if the client leaves before. */
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
    // Unless it is read, nobody notices that the client is gone.
    socket.on('data', this.#keep);
    socket.once('end', this.#leave);
  }

  /** Gives the socket away, with what has arrived early. */
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
