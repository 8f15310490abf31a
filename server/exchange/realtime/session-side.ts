/** One of the two sockets of a session: client or upstream. */
import { WebSocket } from 'ws';

const pingEveryMs = 30_000;
/**
 * After so many pings without a sign of life, three minutes, the peer is gone. A count rather than a time, since a machine
 * that slept has heard nothing for long; and so many, since a program that is stopped in a debugger answers none.
 */
const mostUnansweredPings = 6;

export class SessionSide {
  readonly socket: WebSocket;
  /** Of all messages that came. */
  bytes = 0;
  #isHeld = false;
  #unansweredPings = 0;
  readonly #pings: NodeJS.Timeout;

  constructor(socket: WebSocket) {
    this.socket = socket;
    this.#pings = setInterval(() => this.#ping(), pingEveryMs).unref();
    for (const sign of ['message', 'ping', 'pong'] as const) {
      socket.on(sign, () => {
        this.#unansweredPings = 0;
      });
    }
    socket.once('close', () => clearInterval(this.#pings));
    // What follows is `close`, which tells all that matters.
    socket.on('error', () => {});
  }

  get isHeld(): boolean {
    return this.#isHeld;
  }

  /** Resolves when it is closed. */
  get closed(): Promise<void> {
    return new Promise((resolve) => {
      if (this.socket.readyState === WebSocket.CLOSED) resolve();
      else this.socket.once('close', () => resolve());
    });
  }

  /** Stops reading. */
  hold(): void {
    this.#isHeld = true;
    this.socket.pause();
  }

  release(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    this.socket.resume();
  }

  #ping(): void {
    // Nothing is heard of a side that is not read.
    if (this.socket.readyState !== WebSocket.OPEN || this.#isHeld) return;
    if (this.#unansweredPings >= mostUnansweredPings) this.socket.terminate();
    else this.socket.ping();
    this.#unansweredPings++;
  }
}
