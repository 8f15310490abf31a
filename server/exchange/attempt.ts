/**
 * One call to one target, from sending to the end of its response. Reads the response through a reader and is the only
 * one to act on the reader's steps: timers, claiming the answer, the client's response, and the record. Until the first
 * byte passes, the client sees nothing of this attempt, and another can replace it.
 */
import type { FailureClass } from '../contract/ledger.ts';
import type { Labelled, LoopWatch } from '../loop-watch.ts';
import type { AttemptResult } from '../routing/attempt-result.ts';
import type { AttemptTimeouts } from '../routing/compile-timeouts.ts';
import type { Target } from '../routing/snapshot.ts';
import type { ResponseHandler, ResponseHeaders, UpstreamCall } from '../transport/transport.ts';
import { TransportError } from '../transport/transport-error.ts';
import { framingOf } from '../wire/sse-framing.ts';
import { type AttemptFailure, breakAfterContent, failureInStream, failureOf } from './attempt-failures.ts';
import { AttemptNotes } from './attempt-notes.ts';
import { AttemptTimers } from './attempt-timers.ts';
import { chooseReader, type StreamNeeds } from './choose-reader.ts';
import { isEventStream } from './client-headers.ts';
import type { ClientResponse } from './client-response.ts';
import type { AttemptTrace } from './exchange-trace.ts';
import type { HeldBytes } from './held-bytes.ts';
import type { Asked, FailureReason, ResponseReader, Step, Steps } from './readers/response-reader.ts';
import type { ResponseObserver } from './response-observer.ts';
import { isPackedStream, StreamDecoder } from './stream-decoder.ts';
import type { AnswerTranslation } from './translation/answer-translation.ts';

interface AttemptOptions {
  client: ClientResponse;
  trace: AttemptTrace;
  /** The request that the work belongs to. */
  request: Labelled;
  loopWatch: LoopWatch;
  target: Target;
  /** Secrets of the client and of the attempt; nothing recorded of the response may contain them. */
  secrets: readonly string[];
  asked: Asked;
  /** The memory account of the request and its response. */
  held: HeldBytes;
  needs: StreamNeeds;
  /** Null where the client speaks the upstream's API, so that bytes pass as they are. */
  translation: AnswerTranslation | null;
  /** The client asked for the usage at the end of a chat stream itself. */
  wantsUsage(): boolean;
  timeouts: AttemptTimeouts;
  /** Number of attempts so far, including this one. */
  number: number;
  /** Claims the answer for this attempt. Once true, it is false for all others. */
  claim(): boolean;
  /** Observers of the response, from its first byte to the client on. */
  observers(): readonly ResponseObserver[];
}

/** The result for the attempt loop, or a redirect, which may be followed. */
export type CallResult = AttemptResult | { kind: 'redirected'; location: string };

export class Attempt implements ResponseHandler {
  readonly result: Promise<CallResult>;
  /** Part of the response has reached the client. */
  hasBegun = false;
  status = 0;
  readonly #options: AttemptOptions;
  readonly #notes: AttemptNotes;
  readonly #timers: AttemptTimers;
  #settle: (result: CallResult) => void = () => {};
  #headers: ResponseHeaders = {};
  #isOver = false;
  #call: UpstreamCall | undefined;
  #reader: ResponseReader | undefined;
  #decoder: StreamDecoder | undefined;
  #observers: readonly ResponseObserver[] = [];
  #redirectedTo: string | undefined;
  #bytes = 0;
  /** Part of the memory account that the response uses. */
  #heldBytes = 0;

  constructor(options: AttemptOptions) {
    this.#options = options;
    this.#notes = new AttemptNotes(options.trace.record, options.secrets);
    const { timeouts, client } = options;
    this.#timers = new AttemptTimers({ timeouts, client, notes: this.#notes, attempt: this });
    this.result = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  /** Called directly after sending. */
  attach(call: UpstreamCall): void {
    this.#call = call;
  }

  /**
   * The client disconnected. Aborts the upstream at once, or reads on for at most `drainMs` to learn the usage. Not a
   * failure after the terminal event.
   */
  clientLeft(drainMs: number): void {
    if (this.#isOver) return;
    if (this.hasBegun && this.#reader?.isComplete?.()) this.#act([{ kind: 'complete' }]);
    else if (drainMs > 0) this.#timers.drainFor(drainMs, () => this.#leave('client-gone'));
    else this.#leave('client-gone');
  }

  /** Another attempt became the answer. */
  giveUp(): void {
    if (!this.#isOver) this.#leave(null, 'given up: another target answered first');
  }

  onSending(): void {
    this.#notes.sending();
  }

  onSent(): void {
    if (this.#options.asked.isStreamAsked && !this.#isOver) this.#timers.awaitContent();
  }

  onHeaders(status: number, headers: ResponseHeaders): void {
    this.#notes.answered(status, headers['x-request-id'] ?? headers['request-id']);
    const location = status >= 300 && status < 400 ? headers.location : undefined;
    if (typeof location === 'string') {
      this.#redirectedTo = location;
      this.#call?.abort();
      return;
    }
    this.status = status;
    this.#describe(headers);
    const { stream } = this.#options.asked.route;
    if (stream && status < 400 && isPackedStream(headers, stream.framing)) this.#unpack();
    this.#startReading();
  }

  onData(chunk: Buffer): void {
    if (this.#isOver || !this.#reader) return;
    const { loopWatch, request } = this.#options;
    this.#notes.pieceCame();
    loopWatch.begin(request);
    if (this.#decoder) this.#decoder.push(chunk);
    else this.#read(chunk);
    loopWatch.end();
  }

  onEnd(): void {
    if (this.#isOver) return;
    const { loopWatch, request } = this.#options;
    loopWatch.begin(request);
    if (this.#decoder) this.#decoder.end();
    else this.finished();
    loopWatch.end();
  }

  onError(error: TransportError): void {
    if (this.#isOver) return;
    if (this.#redirectedTo !== undefined) this.#over({ kind: 'redirected', location: this.#redirectedTo });
    else this.late(error);
  }

  /** The awaited bytes did not arrive, or not in time. */
  late(error: TransportError): void {
    if (this.#isOver) return;
    if (this.#reader) this.#act(this.#reader.fail(error));
    else this.#fail({ kind: 'transport', error });
  }

  /** The response is complete. */
  finished(): void {
    if (this.#isOver || !this.#reader) return;
    const steps = this.#reader.end();
    if (steps instanceof Promise) void steps.then((last) => this.#act(last));
    else this.#act(steps);
  }

  /** Called while the client does not read. */
  pause(): void {
    this.#call?.pause();
    this.#decoder?.pause();
  }

  resume(): void {
    this.#decoder?.resume();
    this.#call?.resume();
  }

  #read(chunk: Buffer): void {
    if (this.#isOver || !this.#reader) return;
    this.#options.trace.tail.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes > maxResponseBytes && !this.#options.asked.route.content) {
      this.late(new TransportError('malformed', 'body', 'an answer without end'));
      return;
    }
    this.#feed(this.#reader, chunk);
  }

  #feed(reader: ResponseReader, chunk: Buffer): void {
    this.#act(reader.read(chunk));
    if (reader.heldBytes !== undefined) this.#countHeld(reader, reader.heldBytes);
    // Another reader may have taken over.
    if (!this.hasBegun || this.#isOver || this.#reader !== reader) return;
    this.#options.client.insideEvent = reader.isInsideEvent ?? false;
    this.#timers.expectEnd(reader, chunk);
  }

  /** If memory is short, a long response passes unexamined instead of being held. */
  #countHeld(reader: ResponseReader, bytes: number): void {
    const { held } = this.#options;
    if (this.#isOver || bytes === this.#heldBytes) return;
    held.add(bytes - this.#heldBytes);
    this.#heldBytes = bytes;
    if (held.isTooMuch && reader.letPass && !this.#options.translation) this.#act(reader.letPass());
  }

  #act(steps: Steps): void {
    for (const step of steps) {
      if (this.#isOver) return;
      this.#take(step);
    }
  }

  #take(step: Step): void {
    switch (step.kind) {
      case 'wait':
        this.#timers.awaitContent();
        break;
      case 'content':
        this.#notes.contentCame();
        this.#timers.stopAwaitingContent();
        break;
      case 'alive':
        this.#timers.progressed(this.#notes.lastPieceMs);
        break;
      case 'dropped':
        this.#notes.eventDropped();
        break;
      case 'headers':
        this.#describe({ ...this.#headers, ...step.headers });
        break;
      case 'pass':
        this.#pass(step.bytes);
        break;
      case 'reread':
        this.#readAgain(step);
        break;
      case 'complete':
        this.#complete(step);
        break;
      case 'fail':
        this.#fail(step.reason);
        break;
      case 'hand-over':
        this.#failed(breakAfterContent(step.error));
        break;
      case 'break':
        this.#breakOff(step);
        break;
    }
  }

  #pass(bytes: Buffer): void {
    if (!this.#begin()) return;
    if (this.#options.translation) this.#passTranslated(this.#options.translation, bytes);
    else this.#send(bytes);
  }

  #send(bytes: Buffer): void {
    for (const observer of this.#observers) observer.take(bytes);
    this.#options.client.write(bytes, this);
  }

  #passTranslated(translation: AnswerTranslation, bytes: Buffer): void {
    const told = translation.push(bytes);
    if (told.length > 0) this.#send(told);
  }

  /** Makes this attempt the answer, and sends its head. False if that cannot be any more: then the attempt is over. */
  #begin(): boolean {
    if (this.hasBegun) return true;
    const { client, asked, needs, claim, observers, trace } = this.#options;
    if (client.hasBegun && !needs.download && !isEventStream(this.#headers, framingOf(asked.route))) {
      // The keep-alive comments have already committed the response to being a stream.
      this.#fail({ kind: 'damage', what: 'answered a request for a stream with something else' });
      return false;
    }
    if (!claim()) {
      this.giveUp();
      return false;
    }
    this.hasBegun = true;
    const id = this.#reader?.responseId;
    if (id) needs.rest?.foundAs(id);
    this.#observers = observers();
    for (const observer of this.#observers) observer.begin(this.status, trace.responseType, this.#headers);
    this.#sendHead();
    return true;
  }

  #sendHead(): void {
    const { client, target, number, translation } = this.#options;
    const answerer = { provider: target.provider.id, attempts: number };
    if (!translation) client.begin(this.status, this.#headers, answerer);
    else {
      const headers = translation.headersFor(this.#headers);
      client.begin(this.status, headers, { ...answerer, headers: translation.lossHeaders });
    }
  }

  #readAgain({ headers, bytes, isWhole }: Extract<Step, { kind: 'reread' }>): void {
    const { asked, needs, wantsUsage } = this.#options;
    this.#describe({ ...this.#headers, ...headers });
    this.#startReading(
      isWhole ? { ...needs, stripUsage: asked.route.stream?.withoutUsage !== undefined && !wantsUsage() } : needs,
    );
    if (isWhole) {
      this.#read(bytes);
      this.finished();
    } else if (this.#reader) this.#feed(this.#reader, bytes);
  }

  #complete(step: Extract<Step, { kind: 'complete' }>): void {
    const { translation } = this.#options;
    if (!translation) this.#completeWith(step);
    else if (this.hasBegun) this.#completeStream(translation, step);
    else this.#completeWhole(translation, step);
  }

  /** What is complete may still be of no use: its call of a tool was cut, and the client has been told so. */
  #completeStream(translation: AnswerTranslation, step: Extract<Step, { kind: 'complete' }>): void {
    const bytes = translation.end();
    if (step.hasFailed || translation.failure === null) {
      this.#completeWith({ ...step, bytes });
      return;
    }
    this.#notes.failed('stream-broken', translation.failure);
    this.#options.client.end('stream-broken', 'upstream_malformed', bytes);
    this.#over({ kind: 'answered', failure: 'stream-broken' });
  }

  #completeWhole(translation: AnswerTranslation, step: Extract<Step, { kind: 'complete' }>): void {
    const whole = translation.whole(step.bytes ?? Buffer.alloc(0));
    if (typeof whole !== 'string') this.#completeWith({ ...step, bytes: whole });
    else this.#fail({ kind: 'damage', what: `sent an answer that is of no use: ${whole}` });
  }

  #completeWith({ bytes, document, hasFailed }: Extract<Step, { kind: 'complete' }>): void {
    if (!this.#begin()) return;
    const { client, trace } = this.#options;
    trace.document = document;
    if (bytes) for (const observer of this.#observers) observer.take(bytes);
    const code = hasFailed ? this.#lastErrorCode(trace.tail.bytes) : null;
    const failure = hasFailed ? failureInStream(code, this.#options.asked.route.wire.errors) : null;
    if (failure) this.#notes.failed(failure);
    client.end(hasFailed ? 'error' : 'ok', code, bytes);
    this.#over({ kind: 'answered', failure });
  }

  #breakOff({ error, event }: Extract<Step, { kind: 'break' }>): void {
    const { client, translation } = this.#options;
    this.#notes.failed('stream-broken', error.message);
    client.breakOff(error, translation ? translation.errorEvent(error.toBody().error) : event);
    this.#over({ kind: 'answered', failure: 'stream-broken' });
  }

  #fail(reason: FailureReason): void {
    const { target, needs, asked } = this.#options;
    const takesBeginning = asked.route.wire.request.takesBeginning && target.provider.prefill !== null;
    this.#failed(
      failureOf(reason, {
        target,
        hasBegun: this.hasBegun,
        mayContinue: takesBeginning && needs.rest?.isContinuation === false,
        redacted: (text) => this.#notes.redacted(text),
      }),
    );
    // Different models rarely produce the same text: not a fault of this one.
    if (reason.kind === 'divergence') this.#notes.failed(null);
  }

  #failed({ failure, message, lastWord }: AttemptFailure): void {
    this.#notes.failed(failure.class, message);
    const { translation } = this.#options;
    const told = translation ? translation.lastWord(lastWord) : lastWord;
    this.#over({ kind: this.hasBegun ? 'broken' : 'failed', failure, lastWord: told });
  }

  #describe(headers: ResponseHeaders): void {
    this.#headers = headers;
    const type = headers['content-type'];
    this.#options.trace.responseType = typeof type === 'string' ? type : '';
  }

  #startReading(needs = this.#options.needs): void {
    const { asked, client } = this.#options;
    const chosen = chooseReader(asked, { status: this.status, headers: this.#headers }, needs);
    if (chosen.kind === 'none') {
      this.#fail(chosen.reason);
      return;
    }
    this.#reader = chosen.reader;
    if (chosen.kind === 'stream') {
      // After it has begun, the model may still reason for minutes.
      client.keepAlive(true);
      // Some responses only now turn out to be streams: speech, or one with the wrong content type.
      if (!this.#timers.isAwaitingContent) this.#timers.awaitContent();
    } else this.#timers.stopAwaitingContent();
    if (chosen.kind === 'error') this.#timers.awaitError();
  }

  #unpack(): void {
    this.#decoder = new StreamDecoder(this.#headers, {
      data: (chunk) => this.#read(chunk),
      end: () => this.finished(),
      error: (error) => this.onError(error),
    });
    this.#headers = { ...this.#headers, 'content-encoding': undefined };
  }

  /** Null if the upstream names none. */
  #lastErrorCode(end: Buffer): string | null {
    const code = this.#options.asked.route.wire.errors.codeIn(end.toString('utf8'));
    return code === null ? null : this.#notes.redacted(code);
  }

  #leave(failure: FailureClass | null, why?: string): void {
    this.#notes.failed(failure, why);
    this.#over({ kind: 'given-up' });
  }

  #over(result: CallResult): void {
    this.#isOver = true;
    this.#timers.stop();
    // The client has yet to read an answer, which therefore still uses its memory.
    if (result.kind !== 'answered') this.#options.held.add(-this.#heldBytes);
    this.#decoder?.dispose();
    this.#notes.over();
    this.#settle(result);
    this.#call?.abort();
  }
}

/** Longer than any response except a video. */
const maxResponseBytes = 256 * 1024 * 1024;
