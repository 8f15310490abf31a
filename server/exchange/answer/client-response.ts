/**
 * The client's response, across all attempts of the request. Owns the response head, back-pressure, keep-alive
 * comments, and the end; knows nothing of upstream events.
 */
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { Api } from '../../apis/core/api.ts';
import { framingOf } from '../../apis/core/sse-framing.ts';
import type { Framing } from '../../apis/core/stream-format.ts';
import type { GatewayError } from '../../contract/errors.ts';
import type { RequestOutcome } from '../../contract/ledger.ts';
import type { Settings } from '../../contract/settings.ts';
import { boundedPattern } from '../../ground/bounded-pattern.ts';
import { endWith, writePiece } from '../../ground/fast-paths.ts';
import { AwakeTimer, awakeMs } from '../../ground/timers.ts';
import type { HeldAnswer } from '../../routing/attempt-result.ts';
import type { ResponseHeaders, UpstreamCall } from '../../transport/transport.ts';
import { hasLimitHeaders } from '../plan/plan.ts';
import type { ResponseSummary } from '../record/exchange-trace.ts';
import type { ClientResponseTap } from '../record/response-taps.ts';
import type { OutgoingCall } from '../request/outgoing-call.ts';

interface ClientResponseOptions {
  response: ServerResponse;
  requestId: string;
  /** Of a stream in response to the request. */
  framing: Framing;
  /** 0: no comments. */
  keepAliveMs: number;
  /** A client that reads none of the waiting data for this long is disconnected. */
  unreadMs: number;
  /** Adds headers that name the provider and the number of attempts. */
  showsAttempts: boolean;
  /** Null if nothing observes the response. */
  tap: ClientResponseTap | null;
  /** What the response is written to; null: its socket. */
  outlet: ResponseOutlet | null;
}

/** Sends a response in place of its socket: later, or not as it is. */
export interface ResponseOutlet {
  /** The response is cut off on purpose, now or after what is waiting. */
  readonly abortsResponse: boolean;
  /** The whole answer has been written to this object, although the client may get less of it, or get it later. */
  readonly hasAll: boolean;
  begin(status: number, headers: Record<string, string | string[]>): void;
  /** False: write no more before the listener of `once` is called. */
  write(bytes: Buffer): boolean;
  end(last: Buffer | undefined): void;
  once(event: 'drain', listener: () => void): void;
}

type Pausable = Pick<UpstreamCall, 'pause' | 'resume'>;

/** Who answered, and after how many attempts. */
export interface Answerer {
  provider: string;
  attempts: number;
  /** Additional headers set by Sluice. */
  headers?: Readonly<Record<string, string>>;
}

/** How long a response is read after its client has left, in groups that want exact usage. */
export const drainMs = 60_000;
/** A player that pauses a video, or a program stopped in a debugger, may resume reading after minutes. */
export const unreadMs = 10 * 60_000;

export class ClientResponse {
  /** The client has part of an event, so nothing can be inserted. */
  insideEvent = false;
  readonly #options: ClientResponseOptions;
  #outcome: RequestOutcome = 'error';
  #errorCode: string | null = null;
  #hasEnded = false;
  #bytesOut = 0;
  #contentType = '';
  #isGone = false;
  /** The client left with the whole answer, of which only observers get the end. */
  #hasAll = false;
  /** The upstream call that is paused until the client resumes reading. */
  #paused: Pausable | null = null;
  #keepAlive: AwakeTimer | undefined;
  #mayOpenStream = false;
  #lastWriteMs = 0;
  /** Null: no data has waited so far. */
  #unreadSinceMs: number | null = null;
  /** Null unless something has to be stored before more is sent. */
  #delayed: DelayedOutput | null = null;

  constructor(options: ClientResponseOptions) {
    this.#options = options;
  }

  get hasBegun(): boolean {
    return this.#options.response.headersSent;
  }

  /** Whether the client has stopped reading. */
  get isBlocked(): boolean {
    return this.#paused !== null;
  }

  /** Whether it will resume this once it reads. */
  isBlocking(source: Pausable): boolean {
    return this.#paused === source;
  }

  get summary(): ResponseSummary {
    const { response, outlet } = this.#options;
    return {
      outcome: outlet?.abortsResponse ? 'stream-broken' : this.#outcome,
      errorCode: this.#errorCode,
      status: response.headersSent ? response.statusCode : null,
      bytesOut: this.#bytesOut,
      responseType: this.#contentType,
    };
  }

  /**
   * Starts sending comments during silence. `mayOpen`: even before any upstream has answered, which commits the response
   * to being a stream.
   */
  keepAlive(mayOpen: boolean): void {
    const { keepAliveMs, framing } = this.#options;
    this.#mayOpenStream = mayOpen;
    if (keepAliveMs === 0 || !framing.keepAlive || this.#keepAlive) return;
    this.#lastWriteMs = performance.now();
    this.#keepAlive = new AwakeTimer(() => this.#comment(keepAliveMs), keepAliveMs);
  }

  /** Stops the keep-alive comments, so that none is sent within an answer of Sluice's own. */
  stop(): void {
    this.#keepAlive?.clear();
    this.#keepAlive = undefined;
  }

  /** To be called before Sluice sends an error of its own. */
  showAttempts(attempts: number): void {
    const { response, showsAttempts } = this.#options;
    if (showsAttempts) response.setHeader('x-sluice-attempts', attempts);
  }

  /** Sends the head, unless a comment did so before. */
  begin(status: number, headers: ResponseHeaders, answerer: Answerer | null): void {
    const { response, requestId, framing, showsAttempts } = this.#options;
    if (response.headersSent || this.#isGone) return;
    const type = headers['content-type'];
    this.#contentType = typeof type === 'string' ? type : '';
    const headersForClient = clientHeaders(headers, requestId, {
      framing,
      request: response.req.headers,
      hasOwnLimits: hasLimitHeaders(response),
    });
    if (showsAttempts && answerer) {
      headersForClient['x-sluice-provider'] = answerer.provider;
      headersForClient['x-sluice-attempts'] = String(answerer.attempts);
    }
    if (answerer?.headers) Object.assign(headersForClient, answerer.headers);
    this.#options.tap?.begin(status, headersForClient);
    if (this.#options.outlet) this.#options.outlet.begin(status, headersForClient);
    else response.writeHead(status, headersForClient);
  }

  /** Delays all further writes, and the end, until this has settled. */
  holdUntil(storing: Promise<void>): void {
    this.#delayed ??= new DelayedOutput(() => {
      this.#delayed = null;
    });
    this.#delayed.until(storing);
  }

  /** `from` is paused while the client does not read. */
  write(bytes: Buffer, from: Pausable | undefined): void {
    if (this.#isGone) {
      if (this.#hasAll) this.#options.tap?.take(bytes);
      return;
    }
    const isFirst = this.#bytesOut === 0;
    this.#bytesOut += bytes.length;
    this.#options.tap?.take(bytes);
    if (this.#keepAlive) this.#lastWriteMs = performance.now();
    if (this.#delayed === null) this.#send(bytes, isFirst, from);
    else {
      // The caller may reuse the buffer by then.
      const copy = Buffer.from(bytes);
      this.#delayed.add(() => this.#send(copy, isFirst, from));
    }
  }

  #send(bytes: Buffer, isFirst: boolean, from: Pausable | undefined): void {
    if (this.#isGone) return;
    const { response, outlet } = this.#options;
    if ((outlet ? outlet.write(bytes) : writePiece(response, bytes, isFirst)) || !from) return;
    from.pause();
    if (!this.#paused) {
      (outlet ?? response).once('drain', () => this.#resume());
      this.#awaitReader();
    }
    this.#paused = from;
  }

  /** `outcome` is the result for the client, unless it has left. */
  end(outcome: RequestOutcome, errorCode: string | null, last?: Buffer): void {
    this.#note(outcome, errorCode);
    if (this.#isGone && !this.#hasAll) return;
    if (!this.#isGone) this.#bytesOut += last?.length ?? 0;
    if (last) this.#options.tap?.take(last);
    if (this.#delayed === null) this.#sendEnd(last);
    else this.#delayed.add(() => this.#sendEnd(last));
  }

  #sendEnd(last: Buffer | undefined): void {
    if (this.#isGone && !this.#hasAll) return;
    const { response, outlet } = this.#options;
    if (outlet) outlet.end(last);
    else endWith(response, last);
    if (response.writableLength > 0 && !this.#isGone) this.#awaitReader();
  }

  /** Sends an answer of Sluice's own, as JSON. */
  sendJson(answer: object): void {
    const body = Buffer.from(JSON.stringify(answer));
    this.begin(200, { 'content-type': 'application/json', 'content-length': String(body.length) }, null);
    this.end('ok', null, body);
  }

  /** Relays an upstream's error unchanged. */
  relay({ status, headers, body, errorCode, provider }: HeldAnswer, attempts: number): void {
    // SDKs retry every 429 unless a header forbids it.
    const isExhausted = status === 429 && exhausted.test(body.toString('latin1', 0, 4096));
    const relayedHeaders = isExhausted ? { 'x-should-retry': 'false', ...headers } : headers;
    this.begin(status, relayedHeaders, { provider, attempts });
    this.end('error', errorCode, body);
  }

  /** Aborts the response: with this event, or by closing the connection if none can be inserted (null). */
  abort(error: GatewayError, event: string | null): void {
    this.#note('stream-broken', error.kind.code ?? error.code);
    if (event === null) this.#options.response.destroy();
    else this.end('stream-broken', null, Buffer.from(event));
  }

  /** Ends the response where the recorded one did. */
  cut(): void {
    this.#note('stream-broken', null);
    // Data that was already written is still sent.
    this.#options.response.socket?.destroySoon();
  }

  /** The client is about to leave, although it has the whole answer: that is no failure. Call `left` next. */
  leftWithAnswer(): void {
    this.#hasAll = !this.#hasEnded;
    this.#note('ok', null);
  }

  /** The client has left; further data is discarded. */
  left(): void {
    this.#note('client-gone', null);
    this.#isGone = true;
    this.#resume();
  }

  #note(outcome: RequestOutcome, errorCode: string | null): void {
    this.stop();
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#outcome = outcome;
    this.#errorCode = errorCode;
  }

  #resume(): void {
    const source = this.#paused;
    this.#paused = null;
    this.#options.response.socket?.setTimeout(0);
    source?.resume();
  }

  /** Uses the socket's timeout, which restarts with everything that the client reads, even part of a write. */
  #awaitReader(): void {
    const { response, unreadMs } = this.#options;
    if (this.#unreadSinceMs === null) response.on('timeout', () => this.#readerIsLate());
    this.#unreadSinceMs = awakeMs();
    response.socket?.setTimeout(unreadMs);
  }

  #readerIsLate(): void {
    const { response, unreadMs } = this.#options;
    // That timeout continues while the machine sleeps.
    const hasSlept = awakeMs() - (this.#unreadSinceMs ?? 0) < unreadMs / 2;
    if (hasSlept) this.#awaitReader();
    else response.destroy();
  }

  #comment(everyMs: number): void {
    const { response, framing } = this.#options;
    const dueMs = this.#lastWriteMs + everyMs - performance.now();
    const isDue = dueMs < 1;
    const mayWrite = response.headersSent ? !this.insideEvent : this.#mayOpenStream;
    if (isDue && mayWrite && !this.#paused && this.#delayed === null && framing.keepAlive) {
      if (!response.headersSent) this.begin(200, { 'content-type': framing.contentType }, null);
      this.write(framing.keepAlive, undefined);
    }
    this.#keepAlive = new AwakeTimer(() => this.#comment(everyMs), isDue ? everyMs : dueMs);
  }
}

const exhausted = boundedPattern(/"(?:insufficient_quota|credit_balance_exhausted)"/);

/** Queues writes to a response until something is stored that the client must not learn of before. */
class DelayedOutput {
  readonly #onDone: () => void;
  readonly #writes: (() => void)[] = [];
  #storing = 0;

  /** `done` is called once everything is stored and written. */
  constructor(onDone: () => void) {
    this.#onDone = onDone;
  }

  /** Waits for this as well. */
  until(storing: Promise<void>): void {
    this.#storing += 1;
    const release = () => this.#release();
    storing.then(release, release);
  }

  add(write: () => void): void {
    this.#writes.push(write);
  }

  #release(): void {
    this.#storing -= 1;
    if (this.#storing > 0) return;
    this.#onDone();
    for (const write of this.#writes) write();
  }
}

interface OpenClientOptions {
  response: ServerResponse;
  settings: Settings;
  trace: { id: string };
  tap: ClientResponseTap | null;
  outlet: ResponseOutlet | null;
}

/** The response to a request's client. */
export function createClientResponse(
  { response, settings, trace, tap, outlet }: OpenClientOptions,
  { match }: Pick<OutgoingCall, 'match'>,
): ClientResponse {
  return new ClientResponse({
    response,
    requestId: trace.id,
    framing: framingOf(match.route),
    keepAliveMs: settings.keepAliveCommentMs,
    unreadMs,
    showsAttempts: settings.replyHeaders,
    tap,
    outlet,
  });
}

/** Upstream response headers that the client gets. All others (cookies, hop-by-hop headers, server details) are dropped. */
const forwardedHeaders = new Set([
  'content-type',
  'content-length',
  'content-encoding',
  'content-disposition',
  'content-language',
  'content-range',
  'accept-ranges',
  'cache-control',
  'etag',
  'expires',
  'last-modified',
  'retry-after',
  'retry-after-ms',
  'x-should-retry',
  'x-request-id',
  'request-id',
]);

/** The URL to which Google expects the file's content; uploads to it would bypass Sluice. Source: Google, "Files API". */
const uploadUrl = 'x-goog-upload-url';

/**
 * The same place at the address that the client called. A proxy in front of Sluice may have ended its TLS; a forged header
 * misleads only its own sender.
 */
function asCalled({ host = '', 'x-forwarded-proto': scheme }: IncomingHttpHeaders, url: string): string {
  if (!URL.canParse(url)) return url;
  const { pathname, search } = new URL(url);
  return `${scheme === 'https' ? scheme : 'http'}://${host}${pathname.slice(Math.max(0, pathname.lastIndexOf('/upload/')))}${search}`;
}

/** Rate-limit headers, as named by OpenAI, Anthropic, Mistral and others. */
const forwardedPrefix = boundedPattern(
  /^(?:(?:x-|anthropic-)?ratelimit(?:bysize)?(?:-|$)|x-rate-limit-|openai-|x-goog-upload-)/,
);

export function isEventStream(headers: ResponseHeaders, framing: Framing): boolean {
  const type = headers['content-type'];
  return typeof type === 'string' && framing.isStream(type);
}

/** The upstream's rate limits would contradict those that Sluice enforces for the key. */
const rateLimitPrefix = boundedPattern(/^(?:x-)?ratelimit(?:-|$)/);

/**
 * The location of a created object, such as a realtime call. Only a path is forwarded, which the client calls at Sluice; an
 * absolute URL would lead the client, with its key, to the provider.
 */
const relativePath = boundedPattern(/^\/(?:[^/\\]|$)/);

/**
 * Passes on the upstream's `x-request-id`, which the provider's support may ask for; adds Sluice's own if there is none.
 */
export function clientHeaders(
  upstream: ResponseHeaders,
  requestId: string,
  {
    framing,
    request,
    hasOwnLimits = false,
  }: { framing: Framing; request: IncomingHttpHeaders; hasOwnLimits?: boolean },
): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = { 'x-request-id': requestId, 'x-sluice-request-id': requestId };
  for (const name in upstream) {
    const value = upstream[name];
    if (hasOwnLimits && rateLimitPrefix.test(name)) continue;
    if (value !== undefined && (forwardedHeaders.has(name) || forwardedPrefix.test(name))) headers[name] = value;
  }
  if (headers[uploadUrl] !== undefined) headers[uploadUrl] = asCalled(request, String(headers[uploadUrl]));
  const { location } = upstream;
  if (typeof location === 'string' && relativePath.test(location)) headers.location = location;
  if (isEventStream(upstream, framing)) {
    // Events may be added or removed, and no proxy may transform or buffer the stream.
    delete headers['content-length'];
    headers['cache-control'] ??= 'no-cache';
    headers['x-accel-buffering'] = 'no';
  }
  return headers;
}

/** The headers of Sluice's own errors. */
export function errorHeaders(api: Api, error: GatewayError, requestId: string): Record<string, string> {
  const headers: Record<string, string> = {
    'content-type': api.errorType,
    'cache-control': 'no-store',
    [api.requestIdHeader]: requestId,
    'x-sluice-request-id': requestId,
    ...api.errorHeaders(error),
    ...error.headers,
  };
  if (error.retryAfterSeconds !== null) headers['retry-after'] = String(error.retryAfterSeconds);
  return headers;
}
