/**
 * One attempt's reply on its way to the client: status, the headers that may pass, and the bytes as they come, with
 * back-pressure. Until the upstream's headers are here nothing has been sent and another attempt can follow; from then
 * on this attempt is the answer, and a break is told to the client rather than passed off as an end.
 */
import type { ServerResponse } from 'node:http';
import { GatewayError } from '../contract/errors.ts';
import type { AttemptRecord, RequestOutcome } from '../contract/ledger.ts';
import type { AttemptResult } from '../routing/run-attempts.ts';
import { SseGate } from '../transport/sse-gate.ts';
import type { Exchange, ReplyHandler, ResponseHeaders } from '../transport/transport.ts';
import type { TransportError } from '../transport/transport-error.ts';
import { isEventStream, replyHeaders } from './reply-headers.ts';
import { type StreamProtocol, type StreamWatch, watchStream } from './stream-protocol.ts';
import type { Tail } from './tail.ts';
import { stripUsage } from './usage-stripper.ts';

export interface RelayOptions {
  response: ServerResponse;
  requestId: string;
  attempt: AttemptRecord;
  tail: Tail;
  /** How the route streams; null where it cannot. */
  protocol: StreamProtocol | null;
  /** Usage was asked for by Sluice alone and has to be taken out again. */
  stripUsage: boolean;
  keepAliveMs: number;
  /** Sees the bytes of a successful reply before they are sent. */
  inspect: ((chunk: Buffer) => void) | null;
}

export class ReplyRelay implements ReplyHandler {
  readonly result: Promise<AttemptResult>;
  outcome: RequestOutcome = 'error';
  bytesOut = 0;
  contentType = '';
  readonly #options: RelayOptions;
  readonly #startedMs = performance.now();
  #settle: (result: AttemptResult) => void = () => {};
  #exchange: Exchange | undefined;
  #gate: SseGate | undefined;
  #watch: StreamWatch | undefined;
  #keepAlive: NodeJS.Timeout | undefined;
  #answering = false;
  #redirectedTo: string | undefined;
  #waitingForDrain = false;

  constructor(options: RelayOptions) {
    this.#options = options;
    this.result = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  /** To be called right after sending. */
  attach(exchange: Exchange): void {
    this.#exchange = exchange;
  }

  /** The client hung up: the upstream is stopped at once. After the terminal event that is no fault. */
  clientLeft(): void {
    this.outcome = this.#isComplete() ? 'ok' : 'client-gone';
    if (this.outcome === 'client-gone') this.#options.attempt.failure = 'client-gone';
    this.#exchange?.abort();
    this.#end({ kind: 'answered' });
  }

  onSending(): void {
    this.#options.attempt.connectMs = this.#elapsedMs();
  }

  onHeaders(status: number, headers: ResponseHeaders): void {
    const { attempt, response, requestId } = this.#options;
    attempt.status = status;
    attempt.firstByteMs = this.#elapsedMs();
    attempt.upstreamRequestId = one(headers['x-request-id']);
    const location = status >= 300 && status < 400 ? one(headers.location) : null;
    if (location !== null) {
      this.#redirectedTo = location;
      this.#exchange?.abort();
      return;
    }
    this.#answering = true;
    this.contentType = one(headers['content-type']) ?? '';
    this.outcome = status < 400 ? 'ok' : 'error';
    if (this.#options.protocol && status < 400 && isEventStream(headers)) this.#beginStream(this.#options.protocol);
    response.writeHead(status, replyHeaders(headers, requestId));
  }

  onData(chunk: Buffer): void {
    if (!this.#answering) return;
    this.#options.tail.push(chunk);
    this.#options.inspect?.(chunk);
    this.#keepAlive?.refresh();
    if (this.#gate) this.#gate.push(chunk);
    else this.#write(chunk);
  }

  onEnd(): void {
    const { response } = this.#options;
    if (this.#gate && !this.#isComplete()) {
      this.#breakOff(
        new GatewayError(
          'upstream_stream_broken',
          'The provider ended the stream before it was complete. What came so far is valid; ask again for the whole.',
        ),
      );
      return;
    }
    this.#gate?.flush();
    response.end();
    this.#end({ kind: 'answered' });
  }

  onError(error: TransportError): void {
    this.#options.attempt.error = error.message;
    if (this.#redirectedTo !== undefined) this.#end({ kind: 'redirected', location: this.#redirectedTo });
    else if (!this.#answering) this.#fail(error);
    else if (this.#gate && this.#isComplete()) this.onEnd();
    else this.#breakOff(brokenBy(error));
  }

  #beginStream(protocol: StreamProtocol): void {
    const watch = watchStream(protocol);
    this.#watch = watch;
    this.#gate = new SseGate((bytes) => this.#write(bytes), this.#options.stripUsage ? stripUsage : watch.filter);
    if (this.#options.keepAliveMs > 0) {
      this.#keepAlive = setInterval(() => {
        if (!this.#gate?.insideEvent) this.#write(keepAliveComment);
      }, this.#options.keepAliveMs);
    }
  }

  #write(bytes: Buffer): void {
    const { response } = this.#options;
    this.bytesOut += bytes.length;
    if (response.write(bytes) || this.#waitingForDrain) return;
    this.#waitingForDrain = true;
    this.#exchange?.pause();
    response.once('drain', () => {
      this.#waitingForDrain = false;
      this.#exchange?.resume();
    });
  }

  /** After bytes went out: the error in the stream's own form, or where there is none, a connection that visibly breaks. */
  #breakOff(error: GatewayError): void {
    const { response, attempt } = this.#options;
    this.outcome = 'stream-broken';
    attempt.failure = 'stream-broken';
    attempt.error ??= error.message;
    if (this.#watch && this.#gate && !this.#gate.insideEvent) {
      this.#write(Buffer.from(this.#watch.errorEvent(error.toBody().error)));
      response.end();
    } else response.destroy();
    this.#end({ kind: 'answered' });
  }

  #fail(error: TransportError): void {
    this.#options.attempt.failure = error.fault === 'timeout' && error.phase !== 'connect' ? 'silent' : 'transient';
    this.#end({ kind: 'failed', error });
  }

  #end(result: AttemptResult): void {
    clearInterval(this.#keepAlive);
    this.#options.attempt.totalMs = this.#elapsedMs();
    this.#settle(result);
  }

  #isComplete(): boolean {
    return this.#watch?.isComplete(this.#options.tail) ?? false;
  }

  #elapsedMs(): number {
    return performance.now() - this.#startedMs;
  }
}

const keepAliveComment = Buffer.from(': keep-alive\n\n');

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

function one(value: string | string[] | undefined): string | null {
  return (Array.isArray(value) ? value[0] : value) ?? null;
}
