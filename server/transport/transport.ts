/**
 * The only outgoing path: HTTP to upstream providers over pooled connections. Owns sockets, timeouts by phase, proxies
 * and certificate authorities. Knows nothing of providers, models or body contents.
 *
 * Uses callbacks rather than promises and streams: `dispatch` with a handler costs a quarter of `fetch`.
 */
import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { AwakeTimer } from '../awake-clock.ts';
import type { Timeouts } from '../contract/policy.ts';
import type { Authorities } from './authorities.ts';
import { createConnectionPools, type PoolEntry } from './connection-pools.ts';
import { type DecidedBy, type ProxySettings, whoDecides } from './proxy-choice.ts';
import type { ProxyChain } from './system-proxy.ts';
import { TransportError, toTransportError } from './transport-error.ts';

interface TransportOptions {
  proxies?: ProxySettings;
  /** Absent: only Node's built-in list. */
  authorities?: Authorities;
}

/** Without `firstContentMs`, since only the response's reader recognises content. */
type PhaseLimits = Omit<Timeouts, 'firstContentMs'>;

export interface OutgoingRequest {
  /** `https://api.openai.com` */
  origin: string;
  method: string;
  /** Includes the query. */
  path: string;
  headers: Record<string, string>;
  body: Buffer | Readable | null;
  timeouts: PhaseLimits;
  /** `system`, `direct` or a proxy's URL. */
  proxy: string;
}

export type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** Receives a response; the last call is exactly one of `onEnd` and `onError`. */
export interface ResponseHandler {
  /** The connection is established and the request is being sent. */
  onSending?(): void;
  /** The request's last byte has been sent. */
  onSent?(): void;
  onHeaders(status: number, headers: ResponseHeaders): void;
  /** Everything that one read of the connection returned. */
  onData(chunk: Buffer): void;
  onEnd(): void;
  onError(error: TransportError): void;
}

/** Held by the reader of the response, for back-pressure and to abort. */
export interface UpstreamCall {
  pause(): void;
  resume(): void;
  /**
   * Closes the upstream connection at once; `onError` follows with fault `aborted`. Does nothing once the response has
   * ended.
   */
  abort(): void;
}

/** The proxies in use, and where that setting comes from. */
type DecidedProxyChain = ProxyChain & { by: DecidedBy };

export interface Transport {
  send(request: OutgoingRequest, handler: ResponseHandler): UpstreamCall;
  /** The proxies for requests to `origin`, in the order in which they are tried. `choice` as in `OutgoingRequest.proxy`. */
  chainTo(origin: string, choice: string): Promise<DecidedProxyChain>;
  /**
   * Called after sleep or when the network, proxies or certificates changed: the next request opens a new connection with
   * the current settings. Running requests continue if they can.
   */
  leaveConnections(): void;
  close(): Promise<void>;
}

export function createTransport(options: TransportOptions = {}): Transport {
  const proxies = options.proxies ?? {};
  const pools = createConnectionPools(proxies, options.authorities ?? nodesOwn);
  return {
    send(request, handler) {
      const exchange = new UndiciCall(handler, request.timeouts);
      try {
        const entry = pools.poolFor(request);
        if (entry instanceof Promise) void dispatchWhenOpen(entry, request, exchange);
        else dispatch(entry, request, exchange);
      } catch (error) {
        queueMicrotask(() => exchange.fail(error));
      }
      return exchange;
    },
    async chainTo(origin, choice) {
      const chain = await pools.chainOf({ origin, proxy: choice });
      return { ...chain, by: whoDecides(choice, origin, proxies) };
    },
    leaveConnections: pools.retireAll,
    close: pools.close,
  };
}

const nodesOwn: Authorities = {
  secureContext: async () => null,
  forget() {},
  fingerprint: () => '',
  view: async () => ({ files: [], system: null, problem: null }),
};

async function dispatchWhenOpen(
  entry: Promise<PoolEntry>,
  request: OutgoingRequest,
  exchange: UndiciCall,
): Promise<void> {
  try {
    const found = await entry;
    if (!exchange.isDone) dispatch(found, request, exchange);
  } catch (error) {
    exchange.fail(error);
  }
}

function dispatch({ pool, pathPrefix, headers }: PoolEntry, request: OutgoingRequest, exchange: UndiciCall): void {
  pool.dispatch(
    {
      path: pathPrefix + request.path,
      method: request.method,
      headers: pathPrefix ? { ...request.headers, ...headers } : request.headers,
      body: request.body,
      // undici's timers have a resolution of about a second, so `UndiciCall` uses its own.
      headersTimeout: 0,
      bodyTimeout: 0,
    },
    exchange,
  );
}

/** Processing a 64 kB read normally takes far less. */
const restAfterMs = 2;

/** Shorter reads are not timed. */
const timedFromBytes = 4 * 1024;

const flushPieces = (exchange: UndiciCall) => exchange.flushPieces();

/** One upstream request: undici's handler on one side, `ResponseHandler` on the other. */
class UndiciCall implements Dispatcher.DispatchHandler, UpstreamCall {
  #handler: ResponseHandler;
  #controller: Dispatcher.DispatchController | undefined;
  #abortReason: TransportError | undefined;
  #headersSeen = false;
  #done = false;
  /** undici reports each chunk of a chunked response, and one read may contain hundreds; they are passed on together. */
  #pieces: Buffer[] = [];
  /** Paused by the reader. */
  #isHeld = false;
  /** Paused until the next turn of the event loop. */
  #isResting = false;
  readonly #timeouts: PhaseLimits;
  /** Limits the upstream's silence: before the headers, then between pieces of the response. */
  #silenceTimer: AwakeTimer | undefined;
  #totalTimer: AwakeTimer | undefined;

  constructor(handler: ResponseHandler, timeouts: PhaseLimits) {
    this.#handler = handler;
    this.#timeouts = timeouts;
    const { totalMs } = timeouts;
    if (totalMs) {
      this.#totalTimer = new AwakeTimer(() => {
        const error = new TransportError(
          'timeout',
          this.#headersSeen ? 'body' : 'headers',
          `no complete reply within ${totalMs} ms`,
        );
        this.#giveUp(error);
      }, totalMs);
    }
  }

  get isDone(): boolean {
    return this.#done;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#abortReason) {
      controller.abort(this.#abortReason);
      return;
    }
    this.#expectWithin(this.#timeouts.firstByteMs);
    this.#handler.onSending?.();
  }

  /** A long upload does not count as silence of the upstream. */
  onBodySent(): void {
    this.#silenceTimer?.refresh();
  }

  onRequestSent(): void {
    this.#silenceTimer?.refresh();
    if (!this.#done) this.#handler.onSent?.();
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: ResponseHeaders): void {
    if (this.#done || status < 200) return;
    if (status === 407) {
      this.#giveUp(new TransportError('proxy', 'connect', 'the proxy asks for a name and password (407)'));
      return;
    }
    this.#headersSeen = true;
    this.#expectWithin(this.#timeouts.idleMs);
    this.#handler.onHeaders(status, headers);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#done) return;
    this.#pieces.push(chunk);
    if (this.#pieces.length === 1) process.nextTick(flushPieces, this);
  }

  onResponseEnd(): void {
    this.flushPieces();
    if (this.#finish()) this.#handler.onEnd();
  }

  flushPieces(): void {
    const pieces = this.#pieces;
    const [first] = pieces;
    if (this.#done || !first) return;
    this.#silenceTimer?.refresh();
    this.#pieces = [];
    const bytes = pieces.length === 1 ? first : Buffer.concat(pieces);
    const startedMs = bytes.length < timedFromBytes ? null : performance.now();
    this.#handler.onData(bytes);
    if (startedMs !== null && performance.now() - startedMs > restAfterMs) this.#rest();
  }

  /**
   * Node may read a connection up to thirty times in one turn of the event loop; pausing a slow one lets others run in
   * between.
   */
  #rest(): void {
    if (this.#done || this.#isResting) return;
    this.#isResting = true;
    this.#controller?.pause();
    setImmediate(() => {
      this.#isResting = false;
      if (!this.#done && !this.#isHeld) this.#controller?.resume();
    });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.fail(error);
  }

  fail(error: unknown): void {
    if (!this.#abortReason) this.flushPieces();
    if (!this.#finish()) return;
    this.#handler.onError(this.#abortReason ?? toTransportError(error, this.#phase()));
  }

  pause(): void {
    if (this.#done) return;
    // Silence while the reader is slow is not the upstream's fault.
    this.#silenceTimer?.clear();
    this.#isHeld = true;
    this.#controller?.pause();
  }

  resume(): void {
    if (this.#done) return;
    this.#expectWithin(this.#timeouts.idleMs);
    this.#isHeld = false;
    if (!this.#isResting) this.#controller?.resume();
  }

  abort(): void {
    // Usually the response has ended already; creating the error is the expensive part.
    if (this.#done) return;
    this.#giveUp(new TransportError('aborted', this.#phase(), 'the request was given up'));
  }

  #expectWithin(limitMs: number): void {
    this.#silenceTimer?.clear();
    this.#silenceTimer = new AwakeTimer(() => {
      const what = this.#headersSeen ? 'nothing more' : 'no answer';
      this.#giveUp(new TransportError('timeout', this.#phase(), `${what} within ${limitMs} ms`));
    }, limitMs);
  }

  #phase(): 'connect' | 'headers' | 'body' {
    if (!this.#controller) return 'connect';
    return this.#headersSeen ? 'body' : 'headers';
  }

  #giveUp(reason: TransportError): void {
    if (this.#done || this.#abortReason) return;
    this.#abortReason = reason;
    // Before the connection is established there is nothing to abort: report now, and abort once it exists.
    if (this.#controller) this.#controller.abort(reason);
    if (!this.#done) this.fail(reason);
  }

  #finish(): boolean {
    if (this.#done) return false;
    this.#done = true;
    this.#silenceTimer?.clear();
    this.#totalTimer?.clear();
    return true;
  }
}
