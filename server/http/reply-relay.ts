/**
 * One attempt's reply on its way to the client: status, the headers that may pass, and the bytes as they come, with
 * back-pressure. Until the first bytes are here nothing has been sent and another attempt can follow; from then on this
 * attempt is the answer, and a break is told to the client rather than passed off as an end.
 */
import type { ServerResponse } from 'node:http';
import { GatewayError } from '../contract/errors.ts';
import type { AttemptRecord, RequestOutcome } from '../contract/ledger.ts';
import type { AttemptResult } from '../routing/run-attempts.ts';
import type { CompiledCredential } from '../routing/snapshot.ts';
import { type EventFilter, SseGate } from '../transport/sse-gate.ts';
import type { Exchange, ReplyHandler, ResponseHeaders } from '../transport/transport.ts';
import { TransportError } from '../transport/transport-error.ts';
import { redactText } from './redact-credential.ts';
import { isReadableStream, replyHeaders } from './reply-headers.ts';
import type { ReplyInspector } from './reply-inspector.ts';
import type { ReplyOutcome } from './request-trace.ts';
import {
  kindOfRest,
  type StreamClose,
  type StreamEnd,
  type StreamProtocol,
  type StreamWatch,
  watchStream,
} from './stream-protocol.ts';
import { Tail } from './tail.ts';
import { stripUsage } from './usage-stripper.ts';

export interface RelayOptions {
  response: ServerResponse;
  requestId: string;
  attempt: AttemptRecord;
  /** What the attempt was sent with; nothing that is noted of the reply may hold it. */
  credential: CompiledCredential | null;
  tail: Tail;
  /** How the route streams; null where it cannot. */
  protocol: StreamProtocol | null;
  /** How many answers a chat stream brings beside one another. */
  choices: number;
  /** Usage was asked for by Sluice alone and has to be taken out again. */
  stripUsage: boolean;
  keepAliveMs: number;
  inspectors: readonly ReplyInspector[];
}

export class ReplyRelay implements ReplyHandler {
  readonly result: Promise<AttemptResult>;
  readonly #options: RelayOptions;
  readonly #startedMs = performance.now();
  #settle: (result: AttemptResult) => void = () => {};
  #exchange: Exchange | undefined;
  #head: { status: number; headers: ResponseHeaders } | undefined;
  #gate: SseGate | undefined;
  #filter: EventFilter | undefined;
  #watch: StreamWatch | undefined;
  /** What of a stream has passed the gate, and so reached the client as whole events. */
  readonly #delivered = new Tail();
  #keepAlive: NodeJS.Timeout | undefined;
  #redirectedTo: string | undefined;
  #outcome: RequestOutcome = 'error';
  #errorCode: string | null = null;
  #bytesOut = 0;
  #contentType = '';
  #waitingForDrain = false;
  #done = false;

  constructor(options: RelayOptions) {
    this.#options = options;
    this.result = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  /** How it went for the client, once `result` is `answered`. */
  get reply(): ReplyOutcome {
    const { response } = this.#options;
    return {
      outcome: this.#outcome,
      errorCode: this.#errorCode,
      status: response.headersSent ? response.statusCode : null,
      bytesOut: this.#bytesOut,
      replyType: this.#contentType,
    };
  }

  /** To be called right after sending. */
  attach(exchange: Exchange): void {
    this.#exchange = exchange;
  }

  /** The client hung up: the upstream is stopped at once. After the terminal event that is no fault. */
  clientLeft(): void {
    if (this.#done) return;
    if (!this.#ending('ended')) {
      this.#outcome = 'client-gone';
      this.#options.attempt.failure = 'client-gone';
    }
    this.#finish({ kind: 'answered' });
    this.#exchange?.abort();
  }

  onSending(): void {
    this.#options.attempt.connectMs = this.#elapsedMs();
  }

  onHeaders(status: number, headers: ResponseHeaders): void {
    const { attempt, protocol } = this.#options;
    attempt.status = status;
    attempt.firstByteMs = this.#elapsedMs();
    attempt.upstreamRequestId = this.#noted(one(headers['x-request-id']));
    const location = status >= 300 && status < 400 ? one(headers.location) : null;
    if (location !== null) {
      this.#redirectedTo = location;
      this.#exchange?.abort();
      return;
    }
    this.#head = { status, headers };
    this.#contentType = one(headers['content-type']) ?? '';
    this.#outcome = status < 400 ? 'ok' : 'error';
    for (const inspector of this.#options.inspectors) inspector.begin(status, this.#contentType);
    if (protocol && status < 400 && isReadableStream(headers)) this.#beginStream(protocol);
  }

  onData(chunk: Buffer): void {
    if (this.#done || !this.#head) return;
    this.#options.tail.push(chunk);
    for (const inspector of this.#options.inspectors) inspector.take(chunk);
    this.#keepAlive?.refresh();
    if (this.#gate) this.#gate.push(chunk);
    else this.#write(chunk);
  }

  onEnd(): void {
    if (this.#done) return;
    const close = this.#takeRest();
    if (!this.#gate || this.#ending(close)) this.#complete();
    else if (!this.#options.response.headersSent) this.#fail(endedTooSoon);
    else {
      this.#breakOff(
        new GatewayError(
          'upstream_stream_broken',
          'The provider ended the stream before it was complete. What came so far is valid; ask again for the whole.',
        ),
      );
    }
  }

  onError(error: TransportError): void {
    if (this.#done) return;
    if (this.#redirectedTo !== undefined) {
      this.#finish({ kind: 'redirected', location: this.#redirectedTo });
      return;
    }
    this.#options.attempt.error = error.message;
    if (!this.#options.response.headersSent) this.#fail(error);
    else if (this.#ending('cut')) this.#complete();
    else this.#breakOff(brokenBy(error));
  }

  #beginStream(protocol: StreamProtocol): void {
    const watch = watchStream(protocol, this.#options.choices);
    this.#watch = watch;
    this.#filter = this.#options.stripUsage ? inTurn(watch.filter, stripUsage) : watch.filter;
    this.#gate = new SseGate((bytes) => this.#deliver(bytes), this.#filter);
    if (this.#options.keepAliveMs > 0) {
      this.#keepAlive = setInterval(() => {
        if (!this.#gate?.insideEvent) this.#write(keepAliveComment);
      }, this.#options.keepAliveMs);
    }
  }

  #deliver(bytes: Buffer): void {
    this.#delivered.push(bytes);
    this.#write(bytes);
  }

  /** What follows the last blank line is sent only where the stream has ended well: it may be a mere piece of an event. */
  #takeRest(): StreamClose {
    const rest = this.#gate?.takeRest();
    if (!rest || rest.length === 0) return 'ended';
    const kind = kindOfRest(rest);
    const close = kind === 'piece' ? 'cut' : 'ended';
    const passing = kind === 'event' && this.#filter ? this.#filter(rest, true) : rest;
    if (!passing) return close;
    if (kind === 'event') this.#delivered.push(passing);
    if (this.#ending(close)) this.#write(passing);
    return close;
  }

  #write(bytes: Buffer): void {
    const { response } = this.#options;
    if (!response.headersSent) this.#sendHead(bytes);
    this.#bytesOut += bytes.length;
    if (response.write(bytes) || this.#waitingForDrain) return;
    this.#waitingForDrain = true;
    this.#exchange?.pause();
    response.once('drain', () => {
      this.#waitingForDrain = false;
      this.#exchange?.resume();
    });
  }

  #sendHead(firstBytes?: Buffer): void {
    if (!this.#head) return;
    const { status, headers } = this.#head;
    const passing = replyHeaders(headers, this.#options.requestId);
    // SDKs retry every 429 unless told that it cannot help.
    if (status === 429 && firstBytes && exhausted.test(firstBytes.toString('latin1', 0, 4096)))
      passing['x-should-retry'] ??= 'false';
    this.#options.response.writeHead(status, passing);
  }

  #complete(): void {
    const { response, tail } = this.#options;
    if (this.#ending('ended') === 'failed') this.#outcome = 'error';
    if (!response.headersSent) this.#sendHead();
    response.end();
    if (this.#outcome === 'error') this.#errorCode = this.#noted(upstreamCode.exec(tail.bytes.toString('latin1'))?.[1]);
    this.#finish({ kind: 'answered' });
  }

  /** After bytes went out: the error in the stream's own form, or where there is none, a connection that visibly breaks. */
  #breakOff(error: GatewayError): void {
    const { response, attempt } = this.#options;
    this.#outcome = 'stream-broken';
    this.#errorCode = error.kind.code ?? error.code;
    attempt.failure = 'stream-broken';
    attempt.error ??= error.message;
    if (this.#watch && this.#gate && !this.#gate.insideEvent) {
      this.#write(Buffer.from(this.#watch.errorEvent(error.toBody().error)));
      response.end();
    } else response.destroy();
    this.#finish({ kind: 'answered' });
  }

  #fail(error: TransportError): void {
    const { attempt } = this.#options;
    this.#outcome = 'error';
    attempt.failure = error.fault === 'timeout' && error.phase !== 'connect' ? 'silent' : 'transient';
    attempt.error = error.message;
    this.#finish({ kind: 'failed', error });
  }

  #finish(result: AttemptResult): void {
    this.#done = true;
    clearInterval(this.#keepAlive);
    this.#options.attempt.totalMs = this.#elapsedMs();
    this.#settle(result);
  }

  /** An event of which only the beginning has been sent is no end yet. */
  #ending(close: StreamClose): StreamEnd | null {
    if (!this.#gate || this.#gate.insideEvent) return null;
    return this.#watch?.ending(this.#delivered, close) ?? null;
  }

  #noted(text: string | null | undefined): string | null {
    return text ? redactText(text, this.#options.credential) : null;
  }

  #elapsedMs(): number {
    return performance.now() - this.#startedMs;
  }
}

const keepAliveComment = Buffer.from(': keep-alive\n\n');
const exhausted = /"(?:insufficient_quota|credit_balance_exhausted)"/;
const upstreamCode = /"error"[\s\S]*?"code"\s*:\s*"([^"\\]{1,100})"/;
const endedTooSoon = new TransportError('reset', 'body', 'the provider ended the stream before its first event');

function brokenBy(error: TransportError): GatewayError {
  return error.fault === 'timeout'
    ? new GatewayError('upstream_timeout', `The provider fell silent in the middle of its reply (${error.message}).`, {
        cause: error,
      })
    : new GatewayError(
        'upstream_stream_broken',
        `The provider broke off in the middle of its reply (${error.message}).`,
        { cause: error },
      );
}

/** `first` only looks. */
function inTurn(first: EventFilter | undefined, second: EventFilter): EventFilter {
  if (!first) return second;
  return (event, whole) => {
    first(event, whole);
    return second(event, whole);
  };
}

function one(value: string | string[] | undefined): string | null {
  return (Array.isArray(value) ? value[0] : value) ?? null;
}
