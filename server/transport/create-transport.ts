/** The transport: calls through undici, over pooled connections. */

import type { Dispatcher } from 'undici';
import { joinPieces } from '../ground/fast-paths.ts';
import { AwakeTimer } from '../ground/timers.ts';
import type { Authorities } from './authorities.ts';
import {
  type Connection,
  type ConnectionPools,
  type ConnectionWatch,
  createConnectionPools,
  type Line,
  type PoolEntry,
} from './connection-pools.ts';
import { decidedBy, type ProxySettings } from './proxy-choice.ts';
import type {
  OutgoingRequest,
  PhaseLimits,
  ResponseHandler,
  ResponseHeaders,
  Transport,
  UpstreamCall,
} from './transport.ts';
import { TransportError, toTransportError } from './transport-error.ts';

interface TransportOptions {
  proxies?: ProxySettings;
  /** Absent: only Node's built-in certificate authorities. */
  authorities?: Authorities;
}

export function createTransport(options: TransportOptions = {}): Transport {
  const proxies = options.proxies ?? {};
  const pools = createConnectionPools(proxies, options.authorities ?? nodesOwn);
  return {
    send(request, handler) {
      const isRepeatable = request.body === null || Buffer.isBuffer(request.body);
      const call: UndiciCall = new UndiciCall(
        handler,
        request.timeouts,
        isRepeatable ? () => ask(pools, request, call) : null,
      );
      ask(pools, request, call);
      return call;
    },
    connect: pools.connect,
    async chainTo(origin, choice) {
      const chain = await pools.chainOf({ origin, proxy: choice });
      return { ...chain, by: decidedBy(choice, origin, proxies) };
    },
    leaveConnections: pools.retireAll,
    close: pools.close,
  };
}

function ask(pools: ConnectionPools, request: OutgoingRequest, call: UndiciCall): void {
  try {
    const entry = pools.poolFor(request);
    if (entry instanceof Promise) void dispatchWhenOpen(entry, request, call);
    else dispatch(entry, request, call);
  } catch (error) {
    queueMicrotask(() => call.fail(error));
  }
}

const nodesOwn: Authorities = {
  secureContext: async () => null,
  forget() {},
  fingerprint: () => '',
  view: async () => ({ files: [], system: null, problem: null }),
};

async function dispatchWhenOpen(entry: Promise<PoolEntry>, request: OutgoingRequest, call: UndiciCall): Promise<void> {
  try {
    const poolEntry = await entry;
    if (!call.isDone) dispatch(poolEntry, request, call);
  } catch (error) {
    call.fail(error);
  }
}

function dispatch({ pool, pathPrefix, headers }: PoolEntry, request: OutgoingRequest, call: UndiciCall): void {
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
    call,
  );
}

// One call through undici.

/** Time to process one read, in milliseconds, after which the connection rests. A 64 kB read normally takes far less. */
const restAfterMs = 2;

/** Shorter reads are not timed. */
const timedFromBytes = 4 * 1024;

const flushPieces = (call: UndiciCall) => call.flushPieces();

/**
 * One upstream request: undici's handler on one side, `ResponseHandler` on the other. Uses callbacks rather than promises
 * and streams: `dispatch` with a handler costs a quarter of `fetch`.
 */
class UndiciCall implements Dispatcher.DispatchHandler, ConnectionWatch, UpstreamCall {
  #handler: ResponseHandler;
  #controller: Dispatcher.DispatchController | undefined;
  #abortReason: TransportError | undefined;
  #headersSeen = false;
  #done = false;
  /** undici reports each chunk of a chunked response, and one read may contain hundreds; they are passed on together. */
  #chunk: Buffer | undefined;
  #chunks: [Buffer, ...Buffer[]] | undefined;
  /** Paused by the reader. */
  #isHeld = false;
  /** Paused until the next turn of the event loop. */
  #isResting = false;
  readonly #timeouts: PhaseLimits;
  /** Limits the upstream's silence: before the headers, then between pieces of the response. */
  #silenceTimer: AwakeTimer | undefined;
  #silenceMs = 0;
  #totalTimer: AwakeTimer | undefined;
  /** Where the client that has this call keeps its connection. */
  #line: Line | undefined;
  #connection: Connection | null = null;
  readonly #askAgain: (() => void) | null;

  /** `askAgain` makes the same request on another connection; null: it cannot be made again. */
  constructor(handler: ResponseHandler, timeouts: PhaseLimits, askAgain: (() => void) | null = null) {
    this.#handler = handler;
    this.#timeouts = timeouts;
    this.#askAgain = askAgain;
    const { totalMs } = timeouts;
    if (totalMs) {
      this.#totalTimer = new AwakeTimer(() => {
        const error = new TransportError(
          'timeout',
          this.#headersSeen ? 'body' : 'headers',
          `no complete answer within ${totalMs} ms`,
        );
        this.#giveUp(error);
      }, totalMs);
    }
  }

  get isDone(): boolean {
    return this.#done;
  }

  runsOn(line: Line): void {
    this.#line = line;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.#connection = this.#line?.connection ?? null;
    this.#connection?.begin();
    if (this.#abortReason) {
      controller.abort(this.#abortReason);
      return;
    }
    this.#expectWithin(this.#timeouts.firstByteMs);
    this.#handler.onSending?.();
  }

  /** A long upload does not count as silence of the upstream. */
  onBodySent(): void {
    this.#silenceTimer?.restart();
  }

  onRequestSent(): void {
    this.#silenceTimer?.restart();
    if (!this.#done) this.#handler.onSent?.();
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: ResponseHeaders): void {
    if (this.#done || status < 200) return;
    this.#connection?.answered();
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
    if (this.#chunk) {
      this.#chunks ??= [this.#chunk];
      this.#chunks.push(chunk);
    } else {
      this.#chunk = chunk;
      process.nextTick(flushPieces, this);
    }
  }

  onResponseEnd(): void {
    this.flushPieces();
    if (this.#finish()) this.#handler.onEnd();
  }

  flushPieces(): void {
    if (this.#done || !this.#chunk) return;
    this.#silenceTimer?.restart();
    const bytes = this.#chunks ? joinPieces(this.#chunks) : this.#chunk;
    this.#chunk = undefined;
    this.#chunks = undefined;
    const startedMs = bytes.length < timedFromBytes ? null : performance.now();
    this.#read(bytes);
    if (startedMs !== null && performance.now() - startedMs > restAfterMs) this.#rest();
  }

  /** undici handles an error of its handler in the same way, but is not the caller here: it would end the process. */
  #read(bytes: Buffer): void {
    try {
      this.#handler.onData(bytes);
    } catch (error) {
      this.#giveUp(new TransportError('malformed', 'body', 'the answer could not be read', error));
    }
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
    if (this.#isUnheard && this.#askAgain) {
      this.#controller = undefined;
      this.#askAgain();
    } else this.fail(error);
  }

  /** The upstream had closed a connection kept from earlier calls before anything of this one was sent. */
  get #isUnheard(): boolean {
    if (this.#done || this.#abortReason || this.#headersSeen) return false;
    return this.#connection?.isReused === true && this.#connection.isUnsent;
  }

  fail(error: unknown): void {
    if (!this.#abortReason) this.flushPieces();
    if (!this.#finish()) return;
    this.#handler.onError(this.#abortReason ?? this.#explain(error));
  }

  #explain(error: unknown): TransportError {
    const connection = this.#headersSeen ? null : this.#connection;
    const explained = toTransportError(error, this.#phase(), connection?.problemOfHead());
    if (connection && explained.fault === 'reset') {
      explained.isUnsent = connection.isUnsent;
      explained.isStale = connection.isReused && connection.isSilent;
    }
    return explained;
  }

  pause(): void {
    if (this.#done) return;
    // Silence while the reader is paused is not the upstream's fault.
    this.#silenceTimer?.clear();
    this.#silenceTimer = undefined;
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
    this.#silenceMs = limitMs;
    if (this.#silenceTimer) this.#silenceTimer.restart(limitMs);
    else this.#silenceTimer = new AwakeTimer(() => this.#silent(), limitMs);
  }

  #silent(): void {
    const problem = this.#headersSeen ? 'nothing more' : 'no answer';
    this.#giveUp(new TransportError('timeout', this.#phase(), `${problem} within ${this.#silenceMs} ms`));
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
