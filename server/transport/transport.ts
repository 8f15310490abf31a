/**
 * The only way out: HTTP to upstream providers over pooled connections. Owns sockets, timeouts by phase, proxies and
 * certificate authorities. Knows nothing of providers, models or what is in a body.
 *
 * Callbacks rather than promises and streams: `dispatch` with a handler costs a quarter of `fetch`.
 */
import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { Timeouts } from '../contract/config.ts';
import { chooseProxy, type ProxySettings } from './proxy-choice.ts';
import { TransportError, toTransportError } from './transport-error.ts';
import { createWays } from './ways.ts';

export type { ProxySettings };

export interface TransportOptions {
  proxies?: ProxySettings;
  /** PEM texts trusted besides Node's own list. */
  extraCa?: readonly string[];
}

export interface OutgoingRequest {
  /** `https://api.openai.com` */
  origin: string;
  method: string;
  /** With its query. */
  path: string;
  headers: Record<string, string>;
  body: Buffer | Readable | null;
  timeouts: Timeouts;
  /** `system`, `direct` or a proxy's URL. */
  proxy: string;
}

export type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** What a reply's reader is told; exactly one of `onEnd` and `onError` comes last. */
export interface ReplyHandler {
  /** The connection stands and the request is being sent. */
  onSending?(): void;
  onHeaders(status: number, headers: ResponseHeaders): void;
  onData(chunk: Buffer): void;
  onEnd(): void;
  onError(error: TransportError): void;
}

/** Held by whoever reads the reply: back-pressure and giving up. */
export interface Exchange {
  pause(): void;
  resume(): void;
  /** Closes the connection to the upstream at once; `onError` follows with kind `aborted`. Safe to call at any time. */
  abort(): void;
}

export interface Transport {
  send(request: OutgoingRequest, handler: ReplyHandler): Exchange;
  /** Host and port of the proxy that requests to `origin` go through, or null. `choice` as in `OutgoingRequest.proxy`. */
  proxyFor(origin: string, choice: string): string | null;
  /** The next request opens a new connection; those that run go on. For a machine that slept or has another network. */
  leaveConnections(): void;
  close(): Promise<void>;
}

export function createTransport(options: TransportOptions = {}): Transport {
  const proxies = options.proxies ?? {};
  const ways = createWays(proxies, options.extraCa ?? []);
  return {
    send(request, handler) {
      const exchange = new UpstreamExchange(handler, request.timeouts);
      try {
        const { pool, pathPrefix, headers } = ways.wayFor(request);
        pool.dispatch(
          {
            path: pathPrefix + request.path,
            method: request.method,
            headers: pathPrefix ? { ...request.headers, ...headers } : request.headers,
            body: request.body,
            // undici's own clock is only good to about a second: `UpstreamExchange` has one of its own.
            headersTimeout: 0,
            bodyTimeout: 0,
          },
          exchange,
        );
      } catch (error) {
        queueMicrotask(() => exchange.fail(error));
      }
      return exchange;
    },
    proxyFor: (origin, choice) => chooseProxy(choice, origin, proxies)?.host ?? null,
    leaveConnections: ways.leaveAll,
    close: ways.close,
  };
}

/** One request at the upstream: undici's handler on one side, `ReplyHandler` on the other. */
class UpstreamExchange implements Dispatcher.DispatchHandler, Exchange {
  #handler: ReplyHandler;
  #controller: Dispatcher.DispatchController | undefined;
  #abortReason: TransportError | undefined;
  #headersSeen = false;
  #done = false;
  readonly #timeouts: Timeouts;
  /** Runs out when the upstream has been silent too long: for its headers, then for each piece of its reply. */
  #silenceTimer: NodeJS.Timeout | undefined;
  #totalTimer: NodeJS.Timeout | undefined;

  constructor(handler: ReplyHandler, timeouts: Timeouts) {
    this.#handler = handler;
    this.#timeouts = timeouts;
    const { totalMs } = timeouts;
    if (totalMs) {
      this.#totalTimer = setTimeout(() => {
        const error = new TransportError(
          'timeout',
          this.#headersSeen ? 'body' : 'headers',
          `no complete reply within ${totalMs} ms`,
        );
        this.#giveUp(error);
      }, totalMs);
    }
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

  /** A long upload is no silence of the upstream's. */
  onBodySent(): void {
    this.#silenceTimer?.refresh();
  }

  onRequestSent(): void {
    this.#silenceTimer?.refresh();
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
    this.#silenceTimer?.refresh();
    this.#handler.onData(chunk);
  }

  onResponseEnd(): void {
    if (this.#finish()) this.#handler.onEnd();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.fail(error);
  }

  fail(error: unknown): void {
    if (!this.#finish()) return;
    this.#handler.onError(this.#abortReason ?? toTransportError(error, this.#phase()));
  }

  pause(): void {
    if (this.#done) return;
    // While the reader is slow, the upstream is not to blame for the silence.
    clearTimeout(this.#silenceTimer);
    this.#controller?.pause();
  }

  resume(): void {
    if (this.#done) return;
    this.#expectWithin(this.#timeouts.idleMs);
    this.#controller?.resume();
  }

  abort(): void {
    this.#giveUp(new TransportError('aborted', this.#phase(), 'the request was given up'));
  }

  #expectWithin(limitMs: number): void {
    clearTimeout(this.#silenceTimer);
    this.#silenceTimer = setTimeout(() => {
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
    // Before the connection stands there is nothing to abort yet: tell the reader now, and the socket when it comes.
    if (this.#controller) this.#controller.abort(reason);
    if (!this.#done) this.fail(reason);
  }

  #finish(): boolean {
    if (this.#done) return false;
    this.#done = true;
    clearTimeout(this.#silenceTimer);
    clearTimeout(this.#totalTimer);
    return true;
  }
}
