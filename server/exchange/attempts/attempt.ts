/**
 * One call to one target, from sending to the end of its response. Reads the response through a reader and is the only
 * one to act on the reader's steps: timers, claiming the answer, the client's response, and the record. Until the first
 * byte passes, the client sees nothing of this attempt, and another can replace it.
 */
import { framingOf } from '../../apis/core/sse-framing.ts';
import type { GatewayError } from '../../contract/errors.ts';
import type { FailureClass } from '../../contract/ledger.ts';
import type { MaybePromise } from '../../ground/promises.ts';
import type { AttemptResult } from '../../routing/attempt-result.ts';
import type { AttemptTimeouts } from '../../routing/snapshot.ts';
import type { OutgoingRequest, ResponseHeaders, Transport } from '../../transport/transport.ts';
import { TransportError } from '../../transport/transport-error.ts';
import { AnswerDelivery, type DeliveryOptions } from '../answer/answer-delivery.ts';
import { type AttemptFailure, breakAfterContent, failureOf } from '../answer/attempt-failures.ts';
import { isEventStream } from '../answer/client-response.ts';
import { type IncomingOptions, IncomingResponse } from '../answer/incoming-response.ts';
import {
  type FailureReason,
  maxResponseBytes,
  type ResponseReader,
  type Step,
  type Steps,
} from '../readers/response-reader.ts';
import { AttemptNotes } from '../record/exchange-trace.ts';
import { type MemoryAccount, type NonRepeatable, ResponseMemory } from '../request/outgoing-call.ts';
import { AttemptTimers } from './attempt-timers.ts';
import { chooseReader, type StreamNeeds } from './choose-reader.ts';

interface AttemptOptions extends DeliveryOptions, IncomingOptions {
  /** Secrets of the client and of the attempt; nothing recorded of the response may contain them. */
  secrets: readonly string[];
  /** The memory account of the request and its response. */
  memory: MemoryAccount;
  /** What the request must not do twice: buy something (`isPurchase`), or delete something. Null: it may be repeated. */
  once: NonRepeatable | null;
  needs: StreamNeeds;
  /** Whether the client itself asked for usage at the end of a chat stream. */
  wantsUsage(): boolean;
  timeouts: AttemptTimeouts;
  /** Called with the headers of a response, before anything is read. */
  answered(headers: ResponseHeaders): void;
  /** Called for a fault of Sluice's own in reading the answer. */
  reportError(error: unknown): void;
  /** Claims the answer for this attempt. Once true, it is false for all others. */
  claim(): boolean;
}

/** The result for the attempt loop, or a redirect, which may be followed. */
export type CallResult = AttemptResult | { kind: 'redirected'; location: string };

type Complete = Extract<Step, { kind: 'complete' }>;

export class Attempt {
  status = 0;
  headers: ResponseHeaders = {};
  readonly #options: AttemptOptions;
  readonly #notes: AttemptNotes;
  readonly #timers: AttemptTimers;
  readonly #incoming: IncomingResponse;
  readonly #delivery: AnswerDelivery;
  #settle: (result: CallResult) => void = () => {};
  #isOver = false;
  #reader: ResponseReader | undefined;
  /** What follows a step that another thread works on; null if there is none. */
  #waiting: Step[] | null = null;
  /** The usage that a provider sends at the end is not awaited any more. */
  #isCutShort = false;
  readonly #memory: ResponseMemory;

  constructor(options: AttemptOptions) {
    this.#options = options;
    this.#memory = new ResponseMemory(options.memory);
    this.#notes = new AttemptNotes(options.trace.record, options.secrets);
    const contained = new ContainedAttempt(this, (fault) => this.#broke(fault));
    this.#timers = new AttemptTimers(options, this.#notes, contained);
    this.#incoming = new IncomingResponse(options, this.#notes, contained);
    this.#delivery = new AnswerDelivery(options, this.#notes, this.#incoming);
  }

  send(transport: Pick<Transport, 'send'>, request: OutgoingRequest): Promise<CallResult> {
    return new Promise((resolve) => {
      this.#settle = resolve;
      this.#incoming.request(transport, request);
    });
  }

  /** The client disconnected. Reads on for at most `drainMs`, and for moments if the model has finished: for the usage. */
  clientLeft(drainMs: number): void {
    if (this.#isOver) return;
    const { trace, client } = this.#options;
    if (trace.hasBegun && this.#reader?.hasFinished) {
      client.leftWithAnswer();
      if (this.#reader.mayContinue?.()) this.#timers.awaitUsage();
      else this.#act([{ kind: 'complete' }]);
    } else if (drainMs > 0) this.#timers.drainFor(drainMs, () => this.#leave('client-gone'));
    else this.#leave('client-gone');
  }

  /** The usage of a finished answer did not arrive in time. */
  uncounted(): void {
    this.#isCutShort = true;
    this.#act([{ kind: 'complete' }]);
  }

  /** Another attempt became the answer. */
  giveUp(): void {
    if (!this.#isOver) this.#leave(null, 'given up: another target answered first');
  }

  /** Sluice itself ends the response. A client that has part of it is told why, unless the model has finished it. */
  cutOff(error: GatewayError): void {
    if (this.#isOver) return;
    const missingEnd = this.#reader?.missingEnd ?? null;
    if (this.#options.trace.hasBegun && missingEnd !== null) {
      this.#isCutShort = true;
      if (missingEnd.length > 0) this.#act([{ kind: 'pass', bytes: missingEnd }]);
      this.#act([{ kind: 'complete' }]);
      return;
    }
    const telling = this.#options.trace.hasBegun && this.#delivery.cutOff(error, this.#reader);
    if (telling) this.#waitFor(telling.then(() => this.#leave(null, error.message)));
    else this.#leave(null, error.message);
  }

  /** The last byte of the request has been sent. */
  sent(): void {
    if (this.#options.facts.isStreamAsked && !this.#isOver) this.#timers.awaitContent();
  }

  answered(status: number, headers: ResponseHeaders): void {
    this.status = status;
    this.#options.answered(headers);
    this.#describe(headers);
    this.#startReading();
  }

  redirected(location: string): void {
    this.#end({ kind: 'redirected', location });
  }

  /** The awaited bytes did not arrive, or not in time. */
  late(error: TransportError): void {
    if (this.#reader && !this.#isOver) this.#act(this.#reader.fail(error));
    else if (!this.#isOver) this.#fail({ kind: 'transport', error });
  }

  /** The response is complete. Returns a promise only if its last bytes have to be decompressed or joined. */
  finished(): void | Promise<void> {
    if (this.#isOver || !this.#reader) return;
    const steps = this.#reader.end();
    if (steps instanceof Promise) return steps.then((last) => this.#act(last));
    this.#act(steps);
  }

  take(chunk: Buffer): void {
    if (this.#isOver || !this.#reader) return;
    if (this.#waiting) this.#incoming.pause();
    this.#options.trace.excerpt.push(chunk);
    if (this.#options.trace.excerpt.totalBytes > maxResponseBytes && !this.#options.facts.route.content)
      this.late(new TransportError('malformed', 'body', 'an answer without end'));
    else this.#feed(this.#reader, chunk);
  }

  #feed(reader: ResponseReader, chunk: Buffer): void {
    this.#act(reader.read(chunk));
    const isShort = reader.heldBytes !== undefined && !this.#isOver && this.#memory.hold(reader.heldBytes);
    // If memory is short, a long response passes unexamined instead of being held.
    if (isShort && reader.releaseHeld && !this.#options.translation) this.#act(reader.releaseHeld());
    // Another reader may have taken over.
    if (!this.#options.trace.hasBegun || this.#isOver || this.#reader !== reader) return;
    this.#options.client.insideEvent = reader.isInsideEvent ?? false;
    this.#timers.expectEnd(reader, chunk);
  }

  #act(steps: Steps): void {
    for (const step of steps) {
      if (this.#isOver) return;
      if (this.#waiting) this.#waiting.push(step);
      else {
        const acting = this.#actOn(step);
        if (acting) this.#waitFor(acting);
      }
    }
  }

  /** Acts on nothing more, and takes nothing more of the response, until the promise has settled. */
  #waitFor(acting: Promise<void>): void {
    this.#waiting ??= [];
    this.#incoming.pause();
    acting.then(() => this.#goOn()).catch((fault: unknown) => this.#broke(fault));
  }

  #goOn(): void {
    const steps = this.#waiting ?? [];
    this.#waiting = null;
    this.#act(steps);
    // It may bring more at once, which comes after these. If the client does not read, it resumes this itself.
    const isFree = !this.#waiting && !this.#isOver && !this.#options.client.isBlocking(this.#incoming);
    if (isFree) this.#incoming.resume();
  }

  /** Returns a promise if another thread has to translate something for it. */
  #actOn(step: Step): MaybePromise<void> {
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
      case 'error-event':
        this.#notes.errorReceived(step.message);
        break;
      case 'headers':
        this.#describe({ ...this.headers, ...step.headers });
        break;
      case 'pass':
        return this.#pass(step.bytes);
      case 'reread':
        this.#readAgain(step);
        break;
      case 'complete':
        return this.#complete(step);
      case 'fail':
        this.#fail(step.reason);
        break;
      case 'hand-over':
        this.#endFailed(breakAfterContent(step.error));
        break;
      case 'break':
        return this.#endBroken(this.#delivery.abort(step));
    }
  }

  /** Makes this attempt the answer, and sends its head. False if that is no longer possible; then the attempt is over. */
  #begin(): boolean {
    if (this.#options.trace.hasBegun) return true;
    const { client, facts, needs, translation, claim } = this.#options;
    // Translation turns even a whole answer into a stream, if the client asked for one.
    const fitsStream = translation !== null || isEventStream(this.headers, framingOf(facts.route));
    if (client.hasBegun && !needs.download && !fitsStream) {
      // The keep-alive comments have already committed the response to being a stream.
      this.#fail({ kind: 'damage', problem: 'answered a request for a stream with something else' });
      return false;
    }
    if (!claim()) {
      this.giveUp();
      return false;
    }
    const id = this.#reader?.responseId;
    if (id) needs.rest?.foundAs(id);
    this.#delivery.begin(this.status, this.headers);
    return true;
  }

  /** @param telling of the client */
  #endBroken(telling: MaybePromise<void>): MaybePromise<void> {
    if (telling) return telling.then(() => this.#endBroken());
    this.#end({ kind: 'answered', failure: 'stream-broken' });
  }

  #pass(bytes: Buffer): MaybePromise<void> {
    const isRest = this.#options.translation?.isRest ?? false;
    if (!isRest && !this.#begin()) return;
    const translated = this.#delivery.translated(bytes);
    if (translated instanceof Promise) return translated.then((passing) => this.#passTranslated(passing, isRest));
    this.#passTranslated(translated, isRest);
  }

  #passTranslated(translated: Buffer, isRest: boolean): void {
    if (this.#isOver) return;
    if (isRest) this.#passRest(translated);
    else this.#delivery.pass(translated);
  }

  /** Nothing of a translated answer that continues another one is sent while it repeats that. */
  #passRest(translated: Buffer): void {
    if (this.#options.translation?.isDifferent) this.#fail({ kind: 'divergence' });
    else if (translated.length > 0 && this.#begin()) this.#delivery.pass(translated);
  }

  #complete(step: Complete): MaybePromise<void> {
    const { translation, trace } = this.#options;
    trace.hasEnded = !this.#isCutShort && !(step.hasFailed && this.#hasSaid);
    if (trace.hasBegun || translation?.isRest) {
      const last = translation?.end();
      return last instanceof Promise ? last.then((rest) => this.#endStream(step, rest)) : this.#endStream(step, last);
    }
    const outcome = this.#delivery.whole(step);
    return outcome instanceof Promise ? outcome.then((whole) => this.#endWhole(whole)) : this.#endWhole(outcome);
  }

  #endStream(step: Complete, last: Buffer | undefined): void {
    if (this.#isOver) return;
    if (this.#options.translation?.isDifferent) this.#fail({ kind: 'divergence' });
    else if (this.#begin()) this.#end({ kind: 'answered', failure: this.#delivery.endStream(step, last) });
  }

  #endWhole(outcome: Complete | FailureReason): void {
    if (this.#isOver) return;
    if (outcome.kind !== 'complete') this.#fail(outcome);
    else if (this.#begin()) this.#end({ kind: 'answered', failure: this.#delivery.end(outcome) });
  }

  #readAgain({ headers, bytes, isWhole }: Extract<Step, { kind: 'reread' }>): void {
    const { facts, needs, wantsUsage } = this.#options;
    this.#describe({ ...this.headers, ...headers });
    const stripUsage = isWhole ? facts.route.stream?.withoutUsage !== undefined && !wantsUsage() : needs.stripUsage;
    this.#startReading({ ...needs, stripUsage });
    if (isWhole) {
      this.take(bytes);
      this.finished();
    } else if (this.#reader) this.#feed(this.#reader, bytes);
  }

  #fail(reason: FailureReason): void {
    const { target, needs, facts, once, trace } = this.#options;
    trace.hasEnded ||= reason.kind === 'answer' && !this.#hasSaid;
    const { supportsPrefill } = facts.route.wire.request;
    this.#endFailed(
      failureOf(reason, {
        target,
        hasBegun: trace.hasBegun,
        mayContinue: supportsPrefill && target.provider.prefill !== null && needs.rest?.isContinuation === false,
        once: once && { kind: once, record: trace.record },
        redacted: (text) => this.#notes.redacted(text),
      }),
    );
    // Different models rarely produce the same text: not a fault of this one.
    if (reason.kind === 'divergence') this.#notes.failed(null);
  }

  #endFailed({ failure, message, failureResponse }: AttemptFailure): void {
    this.#notes.failed(failure.isLost ? 'lost' : failure.class, message);
    this.#end({
      kind: this.#options.trace.hasBegun ? 'broken' : 'failed',
      failure,
      failureResponse: this.#options.translation?.failureResponse(failureResponse) ?? failureResponse,
    });
  }

  /** A stream has brought content: an error then breaks off its answer, and says nothing of what that has used. */
  get #hasSaid(): boolean {
    const { record, responseType } = this.#options.trace;
    return record.firstContentMs !== null && responseType.includes('event-stream');
  }

  #describe(headers: ResponseHeaders): void {
    this.headers = headers;
    this.#options.translation?.received(headers);
    const type = headers['content-type'];
    this.#options.trace.responseType = typeof type === 'string' ? type : '';
  }

  #startReading(needs = this.#options.needs): void {
    const { facts, client } = this.#options;
    const choice = chooseReader(facts, { status: this.status, headers: this.headers }, needs);
    if (choice.kind === 'none') {
      this.#fail(choice.reason);
      return;
    }
    this.#reader = choice.reader;
    if (choice.kind === 'stream') {
      // After the head, the model may still reason for minutes.
      client.keepAlive(true);
      // Some responses turn out to be streams only now: speech, or a stream with the wrong content type.
      if (!this.#timers.isAwaitingContent) this.#timers.awaitContent();
    } else this.#timers.stopAwaitingContent();
    if (choice.kind === 'error') this.#timers.awaitError();
  }

  /** Sluice failed to read the answer, of which the client may have the beginning. */
  #broke(fault: unknown): void {
    this.#options.reportError(fault);
    if (this.#isOver) return;
    if (this.#options.trace.hasBegun) {
      const ending = this.#endBroken(this.#delivery.abandon(unreadable));
      if (ending) this.#waitFor(ending);
    } else this.#fail({ kind: 'damage', problem: unreadable });
  }

  #leave(failure: FailureClass | null, reason?: string): void {
    this.#notes.failed(failure, reason);
    this.#end({ kind: 'given-up' });
  }

  #end(result: CallResult): void {
    this.#isOver = true;
    this.#options.trace.hasFinished = this.#reader?.hasFinished ?? false;
    this.#timers.stop();
    // The client has yet to read an answer, which therefore still uses its memory.
    if (result.kind !== 'answered') this.#memory.hold(0);
    this.#notes.over();
    this.#settle(result);
    this.#incoming.stop();
  }
}

/** Completes the sentence "Provider … ". */
const unreadable = 'sent an answer that Sluice failed to read; its log says why';

/** What connection and timers call on an attempt. */
interface CalledAttempt {
  sent(): void;
  answered(status: number, headers: ResponseHeaders): void;
  take(chunk: Buffer): void;
  finished(): void | Promise<void>;
  late(error: TransportError): void;
  uncounted(): void;
  redirected(location: string): void;
}

/**
 * Contains exceptions thrown while an answer is read. None of the callers could handle one: it would end the process, or
 * leave the request waiting forever.
 * Written out for each method: a function that is passed one would cost a closure per chunk.
 */
export class ContainedAttempt implements CalledAttempt {
  readonly #attempt: CalledAttempt;
  readonly #broke: (fault: unknown) => void;

  constructor(attempt: CalledAttempt, broke: (fault: unknown) => void) {
    this.#attempt = attempt;
    this.#broke = broke;
  }

  sent(): void {
    try {
      this.#attempt.sent();
    } catch (fault) {
      this.#broke(fault);
    }
  }

  answered(status: number, headers: ResponseHeaders): void {
    try {
      this.#attempt.answered(status, headers);
    } catch (fault) {
      this.#broke(fault);
    }
  }

  take(chunk: Buffer): void {
    try {
      this.#attempt.take(chunk);
    } catch (fault) {
      this.#broke(fault);
    }
  }

  finished(): void {
    try {
      const ending = this.#attempt.finished();
      if (ending) ending.catch(this.#broke);
    } catch (fault) {
      this.#broke(fault);
    }
  }

  late(error: TransportError): void {
    try {
      this.#attempt.late(error);
    } catch (fault) {
      this.#broke(fault);
    }
  }

  uncounted(): void {
    try {
      this.#attempt.uncounted();
    } catch (fault) {
      this.#broke(fault);
    }
  }

  redirected(location: string): void {
    try {
      this.#attempt.redirected(location);
    } catch (fault) {
      this.#broke(fault);
    }
  }
}
