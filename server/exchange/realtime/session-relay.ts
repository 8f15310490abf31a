/**
 * Relays the messages of one realtime session between client and upstream, unchanged and in order, until one side closes.
 * It does not interpret messages; a watch inspects each one before it is forwarded.
 */
import { WebSocket } from 'ws';
import { GatewayError } from '../../contract/errors.ts';
import type { RequestOutcome } from '../../contract/ledger.ts';
import { after, every } from '../../ground/timers.ts';

/** Maximum length of a close frame's reason, in UTF-8 bytes. */
const maxReasonBytes = 123;

/** Codes that only describe locally how a connection ended; they must not be sent in a frame. */
const closedWithoutCode = 1005;
const closedAbnormally = 1006;

const goingAway = 1001;
const refusedByPolicy = 1008;
const failedInside = 1011;

/** The contents of a close frame; without a code the frame is empty. */
interface CloseFrame {
  code: number | undefined;
  reason: string;
}

export const emptyCloseFrame: CloseFrame = { code: undefined, reason: '' };

/** Converts the close frame that a peer sent. `redacted` removes secrets from its reason. */
export function closeFrameOf(code: number, reason: Buffer, redacted: (text: string) => string): CloseFrame {
  return isSendable(code) ? { code, reason: shortened(redacted(reason.toString())) } : emptyCloseFrame;
}

/** Truncates a reason to the length that a close frame can hold, at a character boundary. */
export function shortened(reason: string): string {
  const bytes = Buffer.from(reason);
  if (bytes.length <= maxReasonBytes) return reason;
  let end = maxReasonBytes;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end);
}

function isSendable(code: number): boolean {
  if (code >= 3000) return code <= 4999;
  return code >= 1000 && code <= 1014 && code !== 1004 && code !== closedWithoutCode && code !== closedAbnormally;
}

/** Returned by the watch for a message that must not be forwarded, or that is the last one. */
export interface Refusal {
  error: GatewayError;
  /** Id of the client's event that caused the refusal; null if none did. */
  eventId: string | null;
  /** The refusal ends the session. */
  isFatal: boolean;
  /** The message itself is still forwarded, since it has been paid for. */
  isAfterMessage?: true;
}

/** Inspects each message before it is forwarded; null forwards it. */
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
  /** Must be paused. */
  upstream: WebSocket;
  watch: MessageWatch;
  /** Renders an `error` event for the client. `causedBy`: id of the client's event that caused it, or null. */
  writeError(error: GatewayError, causedBy: string | null): string;
  /** The error for a client whose upstream disconnected without a close frame. */
  upstreamDisconnected(): GatewayError;
  /** Removes secrets from an upstream's close reason. */
  redacted(text: string): string;
  reportError(error: unknown): void;
}

/** A source is paused while more than this many bytes wait for the other side, and resumed at a quarter of it. */
const maxWaitingBytes = 1024 * 1024;
/** On shutdown, time to wait for the peers to answer the close frames. */
const cutOffMs = 1_000;

interface CloseFrames {
  toClient: CloseFrame;
  toUpstream: CloseFrame;
}

/** Sent to the upstream when the client has left or Sluice shuts down. */
const goingAwayFrame: CloseFrame = { code: goingAway, reason: '' };

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

  /** Message bytes received from the client and from the upstream. */
  get bytes(): { fromClient: number; fromUpstream: number } {
    return { fromClient: this.#client.bytes, fromUpstream: this.#upstream.bytes };
  }

  /** Closes both sides with 1001 (going away). */
  shutDown(): void {
    const closeFrame = { code: goingAway, reason: 'Sluice is shutting down' };
    this.#finish({ outcome: 'interrupted', errorCode: null }, { toClient: closeFrame, toUpstream: goingAwayFrame });
    this.#cutOff ??= after(() => {
      for (const { socket } of [this.#client, this.#upstream]) socket.terminate();
    }, cutOffMs);
  }

  /** Ends the session between two messages. */
  endBy(refusal: Refusal): void {
    if (!this.#end) this.#refuse(refusal);
  }

  async #run(): Promise<RelayEnd> {
    const [client, upstream] = [this.#client, this.#upstream];
    const { watch } = this.#options;
    const closed = Promise.all([client.closed, upstream.closed]);
    this.#forward(client, upstream, (message) => watch.ofClient(message));
    this.#forward(upstream, client, (message) => watch.ofUpstream(message));
    client.socket.once('close', (code, reason) => this.#contain(() => this.#clientClosed(code, reason)));
    upstream.socket.once('close', (code, reason) => this.#contain(() => this.#upstreamClosed(code, reason)));
    await closed;
    clearTimeout(this.#cutOff);
    return this.#end ?? { outcome: 'ok', errorCode: null };
  }

  #forward(from: SessionSide, to: SessionSide, inspect: (message: Buffer) => Refusal | null): void {
    const onWritten = () => {
      if (from.isHeld && to.socket.bufferedAmount <= maxWaitingBytes / 4) from.release();
    };
    from.socket.on('message', (message, isBinary) => {
      if (!Buffer.isBuffer(message)) return;
      from.bytes += message.length;
      if (this.#end) return;
      this.#contain(() => {
        const refusal = inspect(message);
        if (refusal === null || refusal.isAfterMessage) to.socket.send(message, { binary: isBinary }, onWritten);
        if (refusal) {
          this.#refuse(refusal);
          return;
        }
        if (!from.isHeld && to.socket.bufferedAmount > maxWaitingBytes) from.hold();
      });
    });
  }

  /** An exception in a socket's listener would end the process; it ends the session instead. */
  #contain(listener: () => void): void {
    try {
      listener();
    } catch (fault) {
      this.#options.reportError(fault);
      const error = new GatewayError('internal', 'Sluice failed during this session. Its log says why.');
      const toClient = { code: failedInside, reason: error.message };
      this.#finish(
        { outcome: 'error', errorCode: error.kind.code ?? error.code },
        { toClient, toUpstream: goingAwayFrame },
      );
    }
  }

  #refuse({ error, eventId, isFatal }: Refusal): void {
    this.#sendError(error, eventId);
    if (!isFatal) return;
    const errorCode = error.kind.code ?? error.code;
    const toClient = { code: refusedByPolicy, reason: shortened(error.message) };
    this.#finish({ outcome: 'error', errorCode }, { toClient, toUpstream: goingAwayFrame });
  }

  #sendError(error: GatewayError, causedBy: string | null): void {
    const { client, writeError } = this.#options;
    if (client.readyState === WebSocket.OPEN) client.send(writeError(error, causedBy));
  }

  #clientClosed(code: number, reason: Buffer): void {
    const isGone = code === closedAbnormally;
    const toUpstream = isGone ? goingAwayFrame : closeFrameOf(code, reason, (text) => text);
    const outcome = isGone ? 'client-gone' : 'ok';
    this.#finish({ outcome, errorCode: null }, { toClient: emptyCloseFrame, toUpstream });
  }

  #upstreamClosed(code: number, reason: Buffer): void {
    if (this.#end) return;
    if (code === closedAbnormally) {
      const error = this.#options.upstreamDisconnected();
      this.#sendError(error, null);
      const errorCode = error.kind.code ?? error.code;
      const toClient = { code: failedInside, reason: shortened(error.message) };
      this.#finish({ outcome: 'stream-broken', errorCode }, { toClient, toUpstream: emptyCloseFrame });
      return;
    }
    const isUsual = code === 1000 || code === goingAway || code === closedWithoutCode;
    const end: RelayEnd = isUsual
      ? { outcome: 'ok', errorCode: null }
      : { outcome: 'error', errorCode: `websocket_${code}` };
    const toClient = closeFrameOf(code, reason, this.#options.redacted);
    this.#finish(end, { toClient, toUpstream: emptyCloseFrame });
  }

  /** Only the first call has an effect. */
  #finish(end: RelayEnd, { toClient, toUpstream }: CloseFrames): void {
    if (this.#end) return;
    this.#end = end;
    for (const side of [this.#client, this.#upstream]) side.release();
    this.#client.socket.close(toClient.code, toClient.reason);
    this.#upstream.socket.close(toUpstream.code, toUpstream.reason);
  }
}

const pingEveryMs = 30_000;
/**
 * The peer counts as gone after this many unanswered pings, which takes three minutes. A count rather than a time,
 * because a machine that slept has received nothing for long; and generous, because a program stopped in a debugger
 * answers no pings.
 */
const maxUnansweredPings = 6;

/** One side of a session, client or upstream. */
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
