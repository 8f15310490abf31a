/**
 * One attempt's reply: follows it from the sending to the end, and gives its body to whoever can judge
 * such a body. Until that one lets it begin, the client knows nothing of this attempt and another can take its place.
 */
import type { GatewayError } from '../contract/errors.ts';
import type { FailureClass } from '../contract/ledger.ts';
import type { Timeouts } from '../contract/policy.ts';
import type { IncomingBody } from '../http/body/incoming-body.ts';
import { errorCodeIn, namedCode } from '../http/reply/error-code.ts';
import type { UpstreamCredential } from '../providers/upstream.ts';
import type { AttemptResult, UpstreamAnswer } from '../routing/attempt-result.ts';
import { afterContent, type Failure, fleetingFailure } from '../routing/classify-failure.ts';
import type { Target } from '../routing/snapshot.ts';
import type { Exchange, ReplyHandler, ResponseHeaders } from '../transport/transport.ts';
import { TransportError } from '../transport/transport-error.ts';
import { asksForText } from '../wire/openai/asks-for-text.ts';
import { saysJson } from '../wire/openai/judge-whole.ts';
import { streamOfWhole } from '../wire/openai/stream-of-whole.ts';
import { wantsUsage } from '../wire/openai/wants-usage.ts';
import type { InferenceRoute } from '../wire/routes.ts';
import {
  type AttemptFailure,
  breakAfterContent,
  damage,
  divergence,
  refusal,
  transportFailure,
} from './attempt-failures.ts';
import { AttemptNotes } from './attempt-notes.ts';
import { ReplyClock } from './attempt-timers.ts';
import { chooseBody, type StreamNeeds } from './choose-reader.ts';
import { isEventStream } from './client-headers.ts';
import type { ClientReply } from './client-response.ts';
import type { AttemptTrace } from './exchange-trace.ts';
import { endedEarly } from './readers/broken-off.ts';
import type { AttemptHost, ReplyBody } from './readers/response-reader.ts';
import type { ReplyInspector } from './response-observer.ts';
import { isPackedStream, StreamDecoder } from './stream-decoder.ts';

interface RelayOptions {
  client: ClientReply;
  trace: AttemptTrace;
  target: Target;
  /** What the attempt was sent with; nothing that is noted of the reply may hold it. */
  credential: UpstreamCredential | null;
  route: InferenceRoute;
  method: string;
  /** Of the client's request. */
  body: IncomingBody;
  needs: StreamNeeds;
  timeouts: Timeouts;
  /** How many attempts there were with this one. */
  number: number;
  /** May this attempt be the answer? Once said, no other may. */
  claim(): boolean;
  /** See the reply from where it is the client's. */
  inspectors(): readonly ReplyInspector[];
}

/** As an attempt's, but for redirects, which may be followed. */
export type RelayResult = AttemptResult | { kind: 'redirected'; location: string };

export class ReplyRelay implements ReplyHandler, AttemptHost {
  readonly result: Promise<RelayResult>;
  status = 0;
  headers: ResponseHeaders = {};
  hasBegun = false;
  isOver = false;
  readonly #options: RelayOptions;
  readonly #notes: AttemptNotes;
  readonly #clock: ReplyClock;
  #settle: (result: RelayResult) => void = () => {};
  #exchange: Exchange | undefined;
  #body: ReplyBody | undefined;
  #decoder: StreamDecoder | undefined;
  #inspectors: readonly ReplyInspector[] = [];
  #redirectedTo: string | undefined;
  #bytes = 0;

  constructor(options: RelayOptions) {
    this.#options = options;
    this.#notes = new AttemptNotes(options.trace.record, options.credential);
    const { timeouts, client } = options;
    this.#clock = new ReplyClock({ timeouts, client, notes: this.#notes, reply: this });
    this.result = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  get route(): InferenceRoute {
    return this.#options.route;
  }

  get method(): string {
    return this.#options.method;
  }

  get isStreamAsked(): boolean {
    return this.#options.needs.isStreamAsked;
  }

  get isTextAsked(): boolean {
    return asksForText(this.route, this.#options.body);
  }

  /** To be called right after sending. */
  attach(exchange: Exchange): void {
    this.#exchange = exchange;
  }

  /**
   * The client hung up. The upstream is stopped at once, or read on for at most `drainMs`, so that its usage is known.
   * After the terminal event that is no fault.
   */
  clientLeft(drainMs: number): void {
    if (this.isOver) return;
    if (this.hasBegun && this.#body?.isComplete()) this.complete();
    else if (drainMs > 0) this.#clock.drainFor(drainMs, () => this.#leave('client-gone'));
    else this.#leave('client-gone');
  }

  /** Another attempt is the answer. */
  giveUp(): void {
    if (this.isOver) return;
    this.#leave(null, 'given up: another target answered first');
  }

  onSending(): void {
    this.#notes.sending();
  }

  onSent(): void {
    if (this.isStreamAsked) this.awaitContent();
  }

  awaitContent(): void {
    if (!this.isOver) this.#clock.awaitContent();
  }

  onHeaders(status: number, headers: ResponseHeaders): void {
    this.#notes.answered(status, headers['x-request-id']);
    const location = status >= 300 && status < 400 ? headers.location : undefined;
    if (typeof location === 'string') {
      this.#redirectedTo = location;
      this.#exchange?.abort();
      return;
    }
    this.status = status;
    this.headers = headers;
    const type = headers['content-type'];
    this.#options.trace.replyType = typeof type === 'string' ? type : '';
    this.#read();
  }

  onData(chunk: Buffer): void {
    if (this.isOver || !this.#body) return;
    this.#notes.pieceCame();
    if (this.#decoder) this.#decoder.push(chunk);
    else this.#take(chunk);
  }

  onEnd(): void {
    if (this.isOver) return;
    if (this.#decoder) this.#decoder.end();
    else this.#body?.end();
  }

  onError(error: TransportError): void {
    if (this.isOver) return;
    if (this.#redirectedTo !== undefined) this.#over({ kind: 'redirected', location: this.#redirectedTo });
    else if (this.#body) this.#body.fail(error);
    else this.failTransport(error);
  }

  begin(): boolean {
    const { client, target, needs, number, claim, inspectors } = this.#options;
    if (this.isOver) return false;
    if (client.hasBegun && !needs.download && !isEventStream(this.headers)) {
      // The comments that kept the client waiting have promised a stream.
      this.damaged('answered a request for a stream with something else');
      return false;
    }
    if (!claim()) {
      this.giveUp();
      return false;
    }
    this.hasBegun = true;
    this.#inspectors = inspectors();
    for (const inspector of this.#inspectors) {
      inspector.begin(this.status, this.#options.trace.replyType, this.headers);
    }
    client.begin(this.status, this.headers, { provider: target.provider.id, attempts: number });
    return true;
  }

  passAsStream(whole: Buffer): boolean {
    const { needs, body } = this.#options;
    const events =
      this.isStreamAsked && this.status < 400 ? streamOfWhole(whole.toString('utf8'), this.route.stream) : null;
    if (events === null) return false;
    this.#call(eventStreamType, { 'content-length': undefined, 'content-encoding': undefined });
    const chosen = chooseBody(this, { ...needs, stripUsage: this.route.stream === 'chat' && !wantsUsage(body) });
    if (chosen.kind === 'none') return false;
    this.#body = chosen.body;
    this.#take(Buffer.from(events));
    chosen.body.end();
    return true;
  }

  readAsStream(beginning: Buffer): void {
    this.#call(eventStreamType, { 'content-length': undefined });
    this.#read();
    this.awaitContent();
    this.#body?.take(beginning);
  }

  callJson(): void {
    if (!saysJson(this.headers)) this.#call('application/json');
  }

  write(bytes: Buffer): void {
    for (const inspector of this.#inspectors) inspector.take(bytes);
    this.#options.client.write(bytes, this);
  }

  complete(last?: Buffer): void {
    if (last) for (const inspector of this.#inspectors) inspector.take(last);
    this.#options.client.end('ok', null, last);
    this.#over({ kind: 'answered', failure: null });
  }

  completeWithError(): void {
    const { client, trace } = this.#options;
    this.#notes.failed('stream-broken');
    client.end('error', this.#redactedCode(errorCodeIn(trace.tail.bytes.toString('utf8'))));
    this.#over({ kind: 'answered', failure: 'stream-broken' });
  }

  refuse(failure: Failure, answer: UpstreamAnswer): void {
    const provider = this.#options.target.provider.id;
    const held = { ...answer, provider, errorCode: this.#redactedCode(namedCode(answer.error)) };
    this.#fail(refusal(this.hasBegun ? afterContent(failure) : failure, held));
  }

  damaged(what: string, failure: Failure = fleetingFailure): void {
    this.#fail(damage(failure, this.#options.target, what));
  }

  failTransport(error: TransportError): void {
    this.#fail(transportFailure(this.#options.target, error));
  }

  giveOver(error: GatewayError): void {
    this.#fail(breakAfterContent(error));
  }

  diverged(): void {
    const { target, needs, route } = this.#options;
    if (this.hasBegun) {
      this.giveOver(endedEarly());
      return;
    }
    const takesBeginning = route.capability === 'chat' && target.provider.prefill !== null;
    this.#fail(divergence(target, takesBeginning && needs.rest?.isContinuation === false));
    // Two models seldom say the same: that is no fault of this one.
    this.#notes.failed(null);
  }

  breakOff(error: GatewayError, event: string | null): void {
    this.#notes.failed('stream-broken', error.message);
    this.#options.client.breakOff(error, event);
    this.#over({ kind: 'answered', failure: 'stream-broken' });
  }

  contentCame(): void {
    this.#notes.contentCame();
    this.#clock.stopAwaitingContent();
  }

  progressed(): void {
    if (!this.isOver) this.#clock.progressed(this.#notes.lastPieceMs);
  }

  stalled(error: TransportError): void {
    this.#body?.fail(error);
  }

  finished(): void {
    this.#body?.end();
  }

  droppedEvent(): void {
    this.#notes.eventDropped();
  }

  insideEvent(isInside: boolean): void {
    this.#options.client.insideEvent = isInside;
  }

  /** While the client does not read. */
  pause(): void {
    this.#exchange?.pause();
    this.#decoder?.pause();
  }

  resume(): void {
    this.#decoder?.resume();
    this.#exchange?.resume();
  }

  #call(type: string, more: ResponseHeaders = {}): void {
    this.#options.trace.replyType = type;
    this.headers = { ...this.headers, 'content-type': type, ...more };
  }

  #take(chunk: Buffer): void {
    if (this.isOver) return;
    this.#options.trace.tail.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes > maxReplyBytes && !this.route.content) {
      this.#body?.fail(new TransportError('malformed', 'body', 'an answer without end'));
      return;
    }
    this.#body?.take(chunk);
    if (this.#body && this.hasBegun && !this.isOver) this.#clock.expectEnd(this.#body, chunk);
  }

  #read(): void {
    if (this.route.stream && this.status < 400 && isPackedStream(this.headers)) this.#unpack();
    const chosen = chooseBody(this, this.#options.needs);
    if (chosen.kind === 'stream') this.#followStream();
    else this.#clock.stopAwaitingContent();
    if (chosen.kind === 'none') this.damaged(chosen.what, chosen.failure);
    else this.#body = chosen.body;
  }

  #followStream(): void {
    // One that has begun may still think for minutes.
    this.#options.client.keepAlive(true);
    // Of speech only the reply tells that it is one.
    if (!this.#clock.hasAwaitedContent) this.awaitContent();
  }

  #unpack(): void {
    this.#decoder = new StreamDecoder(this.headers, {
      data: (chunk) => this.#take(chunk),
      end: () => {
        if (!this.isOver) this.#body?.end();
      },
      error: (error) => this.onError(error),
    });
    this.headers = { ...this.headers, 'content-encoding': undefined };
  }

  #redactedCode(code: string | null): string | null {
    return code === null ? null : this.#notes.redacted(code);
  }

  #fail({ failure, message, lastWord }: AttemptFailure): void {
    if (this.isOver) return;
    this.#notes.failed(failure.class, message);
    this.#over({ kind: this.hasBegun ? 'broken' : 'failed', failure, lastWord });
  }

  #leave(failure: FailureClass | null, why?: string): void {
    this.#notes.failed(failure, why);
    this.#over({ kind: 'given-up' });
  }

  #over(result: RelayResult): void {
    this.isOver = true;
    this.#clock.stop();
    this.#body?.dispose?.();
    this.#decoder?.dispose();
    this.#notes.over();
    this.#settle(result);
    this.#exchange?.abort();
  }
}

/** Longer than any answer but a film. */
const maxReplyBytes = 256 * 1024 * 1024;

const eventStreamType = 'text/event-stream; charset=utf-8';
