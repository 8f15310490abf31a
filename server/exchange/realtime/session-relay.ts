/**
 * Carries the messages of one realtime session between client and upstream, each as it is and in its order, until one of
 * them ends it. Knows nothing of what messages say; a watch looks at them before they go on.
 */
import { WebSocket } from 'ws';
import type { GatewayError } from '../../contract/errors.ts';
import type { RequestOutcome } from '../../contract/ledger.ts';
import {
  closedAbnormally,
  closedWithoutCode,
  type Farewell,
  failedInside,
  farewellOf,
  goingAway,
  refusedByPolicy,
  shortened,
  silentFarewell,
} from './close-codes.ts';
import { SessionSide } from './session-side.ts';

/** What the watch says about a message that must not go on. */
export interface Refusal {
  error: GatewayError;
  /** Of the client's event; null if none caused it. */
  eventId: string | null;
  /** The session ends with it. */
  isFatal: boolean;
}

/** Looks at each message before it goes on; null lets it pass. */
export interface MessageWatch {
  ofClient(message: Buffer): Refusal | null;
  ofUpstream(message: Buffer): Refusal | null;
}

export interface RelayEnd {
  outcome: RequestOutcome;
  errorCode: string | null;
}

interface RelayOptions {
  client: WebSocket;
  /** Paused. */
  upstream: WebSocket;
  watch: MessageWatch;
  /** The `error` event that a client is told. `causedBy`: the id of its own event, or null. */
  writeError(error: GatewayError, causedBy: string | null): string;
  /** What a client is told if its upstream is gone without a farewell. */
  brokenOff(): GatewayError;
  /** Removes secrets from what an upstream gave as reason. */
  redacted(text: string): string;
}

/** A source is paused while more than this waits for its sink, and resumed at a quarter of it. */
const mostWaitingBytes = 1024 * 1024;
/** How long Sluice waits for its farewells to be answered when it ends. */
const cutOffMs = 1_000;

interface Farewells {
  toClient: Farewell;
  toUpstream: Farewell;
}

/** For an upstream whose client or Sluice is gone. */
const leaving: Farewell = { code: goingAway, reason: '' };

export class SessionRelay {
  /** Resolves when both sockets are closed. */
  readonly ended: Promise<RelayEnd>;
  readonly #options: RelayOptions;
  readonly #client: SessionSide;
  readonly #upstream: SessionSide;
  #cutOff: NodeJS.Timeout | undefined;
  #end: RelayEnd | null = null;

  constructor(options: RelayOptions) {
    this.#options = options;
    this.#client = new SessionSide(options.client);
    this.#upstream = new SessionSide(options.upstream);
    this.ended = this.#run();
    options.upstream.resume();
  }

  /** Bytes of messages that came from the client, and from the upstream. */
  get bytes(): { fromClient: number; fromUpstream: number } {
    return { fromClient: this.#client.bytes, fromUpstream: this.#upstream.bytes };
  }

  /** Sluice ends: both are told to go elsewhere. */
  shutDown(): void {
    const farewell = { code: goingAway, reason: 'Sluice is shutting down' };
    this.#finish({ outcome: 'interrupted', errorCode: null }, { toClient: farewell, toUpstream: leaving });
    this.#cutOff ??= setTimeout(() => {
      for (const { socket } of [this.#client, this.#upstream]) socket.terminate();
    }, cutOffMs);
  }

  async #run(): Promise<RelayEnd> {
    const [client, upstream] = [this.#client, this.#upstream];
    const { watch } = this.#options;
    const closed = Promise.all([client.closed, upstream.closed]);
    this.#forward(client, upstream, (message) => watch.ofClient(message));
    this.#forward(upstream, client, (message) => watch.ofUpstream(message));
    client.socket.once('close', (code, reason) => this.#clientClosed(code, reason));
    upstream.socket.once('close', (code, reason) => this.#upstreamClosed(code, reason));
    await closed;
    clearTimeout(this.#cutOff);
    return this.#end ?? { outcome: 'ok', errorCode: null };
  }

  #forward(from: SessionSide, to: SessionSide, look: (message: Buffer) => Refusal | null): void {
    const written = () => {
      if (from.isHeld && to.socket.bufferedAmount <= mostWaitingBytes / 4) from.release();
    };
    from.socket.on('message', (message, isBinary) => {
      if (!Buffer.isBuffer(message)) return;
      from.bytes += message.length;
      if (this.#end) return;
      const refusal = look(message);
      if (refusal) {
        this.#refuse(refusal);
        return;
      }
      to.socket.send(message, { binary: isBinary }, written);
      if (!from.isHeld && to.socket.bufferedAmount > mostWaitingBytes) from.hold();
    });
  }

  #refuse({ error, eventId, isFatal }: Refusal): void {
    this.#tell(error, eventId);
    if (!isFatal) return;
    const errorCode = error.kind.code ?? error.code;
    const toClient = { code: refusedByPolicy, reason: shortened(error.message) };
    this.#finish({ outcome: 'error', errorCode }, { toClient, toUpstream: leaving });
  }

  #tell(error: GatewayError, causedBy: string | null): void {
    const { client, writeError } = this.#options;
    if (client.readyState === WebSocket.OPEN) client.send(writeError(error, causedBy));
  }

  #clientClosed(code: number, reason: Buffer): void {
    const isGone = code === closedAbnormally;
    const toUpstream = isGone ? leaving : farewellOf(code, reason, (text) => text);
    const outcome = isGone ? 'client-gone' : 'ok';
    this.#finish({ outcome, errorCode: null }, { toClient: silentFarewell, toUpstream });
  }

  #upstreamClosed(code: number, reason: Buffer): void {
    if (this.#end) return;
    if (code === closedAbnormally) {
      const error = this.#options.brokenOff();
      this.#tell(error, null);
      const errorCode = error.kind.code ?? error.code;
      const toClient = { code: failedInside, reason: shortened(error.message) };
      this.#finish({ outcome: 'stream-broken', errorCode }, { toClient, toUpstream: silentFarewell });
      return;
    }
    const isUsual = code === 1000 || code === goingAway || code === closedWithoutCode;
    const end: RelayEnd = isUsual
      ? { outcome: 'ok', errorCode: null }
      : { outcome: 'error', errorCode: `websocket_${code}` };
    const toClient = farewellOf(code, reason, this.#options.redacted);
    this.#finish(end, { toClient, toUpstream: silentFarewell });
  }

  /** The first end counts. */
  #finish(end: RelayEnd, { toClient, toUpstream }: Farewells): void {
    if (this.#end) return;
    this.#end = end;
    for (const side of [this.#client, this.#upstream]) side.release();
    this.#client.socket.close(toClient.code, toClient.reason);
    this.#upstream.socket.close(toUpstream.code, toUpstream.reason);
  }
}
