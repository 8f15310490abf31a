/** One side of a session, client or upstream. */
import { WebSocket } from 'ws';
import { every } from '../../ground/timers.ts';

const pingEveryMs = 30_000;
/**
 * The peer counts as gone after this many unanswered pings, which takes three minutes. A count rather than a time,
 * because a machine that slept has received nothing for long; and generous, because a program stopped in a debugger
 * answers no pings.
 */
const maxUnansweredPings = 6;

export class SessionSide {
  readonly socket: WebSocket;
  /** Bytes of all messages received. */
  bytes = 0;
  #isHeld = false;
  #unansweredPings = 0;
  readonly #pings: NodeJS.Timeout;

  constructor(socket: WebSocket) {
    this.socket = socket;
    this.#pings = every(() => this.#ping(), pingEveryMs).unref();
    for (const sign of ['message', 'ping', 'pong'] as const) {
      socket.on(sign, () => {
        this.#unansweredPings = 0;
      });
    }
    socket.once('close', () => clearInterval(this.#pings));
    // `close` follows each error and is handled instead.
    socket.on('error', () => {});
  }

  get isHeld(): boolean {
    return this.#isHeld;
  }

  /** Resolves when the socket is closed. */
  get closed(): Promise<void> {
    return new Promise((resolve) => {
      if (this.socket.readyState === WebSocket.CLOSED) resolve();
      else this.socket.once('close', () => resolve());
    });
  }

  /** Stops reading from the socket. */
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
    // A paused socket receives no pongs.
    if (this.socket.readyState !== WebSocket.OPEN || this.#isHeld) return;
    if (this.#unansweredPings >= maxUnansweredPings) this.socket.terminate();
    else this.socket.ping();
    this.#unansweredPings++;
  }
}
