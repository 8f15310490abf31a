/**
 * Reads an event stream. Nothing is sent before the first event with content: until then an error, an end or a silence is
 * an ordinary failure. After that the bytes pass as they arrive, but only as whole events, without events that no client
 * could parse, and with an end that is distinguishable from a break.
 */

import type {
  EventGate,
  EventMeaning,
  Framing,
  StreamClose,
  StreamEnd,
  StreamEvent,
  StreamWatch,
} from '../../apis/core/stream-format.ts';
import type { StreamText } from '../../apis/core/wire.ts';
import type { GatewayError } from '../../contract/errors.ts';
import { isObject } from '../../contract/is-object.ts';
import { malformedCallFailure } from '../../routing/attempt-result.ts';
import type { TransportError } from '../../transport/transport-error.ts';
import { ShapeCache } from './event-shape.ts';
import {
  brokenBy,
  brokenStep,
  brokenTransport,
  DroppedEvents,
  damagedBy,
  type ErrorEvent,
  type EventsOptions,
  endedEarly,
  endlessEvent,
  endlessStep,
  errorBodyOf,
  failWith,
  maxStreamedEventBytes,
  maxTextEventBytes,
  nothingYet,
  type ResponseReader,
  refusalOf,
  type Step,
  type Steps,
  unreadableCall,
} from './response-reader.ts';

export class EventsReader implements ResponseReader {
  readonly #options: EventsOptions;
  readonly #framing: Framing;
  readonly #gate: EventGate;
  readonly #watch: StreamWatch;
  readonly #shapes: ShapeCache;
  readonly #beginning = new HeldBeginning();
  #steps: Step[] = [];
  #hasContent = false;
  #isPassing = false;
  #isContent = false;
  /** An event of the current chunk had content or showed that the model is working. */
  #sawActivity = false;
  #error: ErrorEvent | undefined;
  /** So far the answer has nothing but the report of a call that could not be read. */
  #isMalformedCall = false;
  readonly #dropped: DroppedEvents;
  #isOver = false;
  /** Bytes so far of an event that is too large for the gate. */
  #eventBytes = 0;

  constructor(options: EventsOptions) {
    this.#options = options;
    const { format, answers, text } = options;
    this.#watch = format.watch(answers);
    this.#shapes = new ShapeCache(text, this.#watch);
    this.#framing = format.framing;
    this.#dropped = new DroppedEvents(format.framing);
    this.#gate = this.#framing.openGate((bytes) => this.#deliver(bytes), {
      filter: (bytes, isWhole) => (isWhole ? this.#passEvent(bytes) : this.#passBeginning(bytes)),
      known: this.#shapes,
      largeEnd: (end) => this.#passEnd(end),
      ...(text && { maxHeldBytes: maxTextEventBytes }),
    });
  }

  read(chunk: Buffer): Steps {
    this.#gate.push(chunk);
    if (this.#sawActivity || this.#shapes.sawContent || this.#gate.insideEvent) this.#progressed();
    if (this.#isOver) return this.#takeSteps();
    if (this.#error) this.#failWith(this.#error);
    else if (this.#dropped.breakStream) this.#break(this.#dropped.problem);
    else if (this.#eventBytes > maxStreamedEventBytes)
      this.#isPassing ? this.#break(endlessEvent()) : this.#finish(endlessStep);
    return this.#takeSteps();
  }

  end(): Steps {
    const close = this.#takeRest();
    if (this.#isOver) return this.#takeSteps();
    if (this.#isPassing && !this.#error) this.#close(this.#ending(close), endedEarly);
    else if (this.#error) this.#failWith(this.#error);
    else if (this.#isMalformedCall) this.#finish(malformedCallStep);
    else
      this.#finish(
        damagedBy(this.#hasContent ? 'broke off its first event' : 'ended the stream before it said anything'),
      );
    return this.#takeSteps();
  }

  fail(error: TransportError): Steps {
    this.#break(error);
    return this.#takeSteps();
  }

  get heldBytes(): number {
    return this.#beginning.isLong ? this.#beginning.bytes : 0;
  }

  releaseHeld(): Steps {
    if (!this.#isOver && !this.#isPassing && this.#beginning.bytes > spareBytes) {
      this.#release();
    }
    return this.#takeSteps();
  }

  #break(error: TransportError): void {
    if (this.#isPassing) this.#close(this.#ending('cut'), () => brokenBy(error));
    else this.#finish(this.#isMalformedCall ? malformedCallStep : brokenTransport(error));
  }

  isComplete(): boolean {
    return !this.#gate.insideEvent && this.#watch.isComplete;
  }

  get hasFinished(): boolean {
    return this.#watch.hasFinished;
  }

  mayContinue(): boolean {
    return this.#watch.mayContinue;
  }

  errorEvent(error: GatewayError): string | null {
    return this.#gate.insideEvent ? null : this.#watch.errorEvent(error.toBody().error);
  }

  get isInsideEvent(): boolean {
    return this.#gate.insideEvent;
  }

  get missingEnd(): Buffer | null {
    const isWhole = this.#isPassing && !this.#gate.insideEvent && this.#watch.isWhole;
    return isWhole ? Buffer.from(this.#watch.missingEnd) : null;
  }

  #takeSteps(): Steps {
    const steps = this.#steps;
    if (steps.length === 0) return nothingYet;
    this.#steps = [];
    return steps;
  }

  #finish(last: Step): void {
    this.#isOver = true;
    this.#steps.push(last);
  }

  #passEvent(bytes: Buffer): Buffer | null {
    if (this.#error || this.#dropped.breakStream) return null;
    if (this.#framing.isKeepAlive(bytes)) return bytes;
    const event = this.#framing.readEvent(bytes);
    if (!event) this.#drop(bytes);
    // Official SDKs fail when they parse the data of an event without any: openai-python#2722, openai-go#556, and the
    // JavaScript ones if it has a name (anthropic-sdk-typescript#861).
    if (event?.data === '') return null;
    const passing = event && this.#inspect(bytes, event);
    if (!event || !passing) return null;
    // Immediately, so that similar events in the same chunk match their shape.
    if (this.#hasContent) this.#begin();
    const text = this.#keep(event);
    // Whatever follows a finish reason is read, since it tells whether the reason means anything.
    if (this.#watch.isWhole) this.#shapes.forget();
    else if (this.#isContent && this.#isPassing) this.#shapes.learn({ bytes, passing, text });
    return passing;
  }

  #drop(bytes: Buffer): void {
    this.#dropped.add(bytes);
    this.#steps.push({ kind: 'dropped' });
    if (this.#dropped.breakStream) this.#shapes.forget();
  }

  /** An event that is too large to parse is an image or a whole response. If it is the first one, it is held to its end. */
  #passBeginning(bytes: Buffer): Buffer {
    if (!this.#hasContent && !this.#framing.beginsLikeAnEvent(bytes)) {
      this.#finish(damagedBy('sent something that is no stream of events'));
      return bytes;
    }
    this.#saysContent();
    this.#watch.note(this.#framing.readPartialEvent(bytes));
    this.#keep(null);
    return bytes;
  }

  /** Of an event that is too large to parse. */
  #passEnd(bytes: Buffer): void {
    const value = this.#options.format.readEnd?.(bytes.toString('latin1'));
    if (value !== undefined) this.#watch.note({ name: '', data: '', value });
  }

  #inspect(bytes: Buffer, event: StreamEvent): Buffer | null {
    if (!this.#error) this.#listen(event, bytes);
    if (this.#error) return null;
    this.#watch.note(event);
    const { stripUsage, format } = this.#options;
    return stripUsage && format.withoutUsage ? format.withoutUsage(bytes) : bytes;
  }

  #listen(event: StreamEvent, bytes: Buffer): void {
    const { format, isTranslated } = this.#options;
    if (isTranslated && !this.#hasContent && format.isMalformedCall?.(event)) {
      this.#isMalformedCall = true;
      return;
    }
    const meaning = format.meaningOf(event);
    this.#isContent = meaning.kind === 'content';
    // The client has its id then, and a stream that breaks off is no reason to begin the work again.
    if (this.#options.isBackground && namesResponse(event.value)) this.#saysContent();
    if (this.#isContent) this.#saysContent();
    else if (meaning.kind === 'alive' && this.#hasContent) this.#sawActivity = true;
    if (meaning.kind !== 'error') return;
    // The failure of a stored response is what was asked for; asking again would tell it again, or make another response.
    if (this.#options.tellsOutcome && isObject(event.value) && isObject(event.value.response)) this.#saysContent();
    // An error after content passes on, unless another target may continue the stream, or nothing of it is missing.
    const isHandled = !this.#hasContent || this.#options.text !== null || this.#watch.isWhole;
    if (!isHandled) return void this.#steps.push({ kind: 'error-event', message: meaning.error.message });
    this.#error = { error: meaning.error, bytes: Buffer.concat([bytes, this.#knownFormOf(meaning)]) };
    this.#shapes.forget();
  }

  /** What follows an error that the client's API does not know as one; empty if it does. */
  #knownFormOf({ error, isForeign }: Extract<EventMeaning, { kind: 'error' }>): Buffer {
    return Buffer.from(isForeign ? this.#watch.errorEvent(errorBodyOf(error)) : '');
  }

  #saysContent(): void {
    this.#sawActivity = true;
    if (this.#hasContent) return;
    this.#hasContent = true;
    this.#steps.push({ kind: 'content' });
  }

  #progressed(): void {
    this.#sawActivity = false;
    this.#shapes.sawContent = false;
    this.#steps.push(alive);
  }

  /** Returns the text that the event adds; null if text is not kept. */
  #keep(event: StreamEvent | null): string | null {
    const { text } = this.#options;
    if (text && this.#isPassing) return text.take(event);
    if (text) this.#beginning.note(event);
    return null;
  }

  #begin(): void {
    if (this.#isPassing) return;
    this.#isPassing = true;
    if (this.#options.text) this.#beginning.addTo(this.#options.text);
  }

  #deliver(bytes: Buffer): void {
    if (this.#isOver) return;
    const { insideEvent } = this.#gate;
    this.#eventBytes = insideEvent ? this.#eventBytes + bytes.length : 0;
    if (this.#isPassing && this.#beginning.bytes === 0) return void this.#pass(bytes);
    this.#beginning.push(bytes);
    if (this.#hasContent ? !insideEvent : this.#beginning.isLong) this.#begin();
    if (this.#isPassing) this.#release();
  }

  #pass(bytes: Buffer): void {
    this.#steps.push({ kind: 'pass', bytes });
  }

  #release(): void {
    this.#begin();
    for (const bytes of this.#beginning.takeAll()) this.#pass(bytes);
  }

  /** Data after the last blank line is sent only if the stream ended properly, since it may be a partial event. */
  #takeRest(): StreamClose {
    const rest = this.#gate.takeRest();
    if (rest.length === 0) return 'ended';
    const last = this.#framing.readEvent(rest);
    const kind = this.#framing.kindOfRest(rest, last);
    const close = kind === 'piece' ? 'cut' : 'ended';
    const event = kind === 'event' ? last : null;
    const passing = event ? this.#inspect(rest, event) : rest;
    if (!passing) return close;
    if (this.#isPassing) {
      if (this.#ending(close)) this.#pass(passing);
    } else if (event && this.#hasContent && this.#ending(close)) {
      // The only content is in the last event, which lacks a blank line.
      this.#beginning.push(passing);
      this.#release();
    }
    return close;
  }

  /** After content, the error passes unchanged if no other target can continue, or if the request is at fault. */
  #failWith(error: ErrorEvent): void {
    if (this.#watch.isWhole) {
      this.#steps.push({ kind: 'error-event', message: error.error.message });
      return void this.#finishWhole();
    }
    const refusal = refusalOf(error, this.#options);
    if (!this.#isPassing || (refusal.failure.class !== 'rejected' && this.#options.text?.read())) {
      this.#finish(failWith(refusal));
      return;
    }
    this.#steps.push({ kind: 'error-event', message: error.error.message }, { kind: 'pass', bytes: error.bytes });
    this.#finish({ kind: 'complete', hasFailed: true });
  }

  #close(ending: StreamEnd | null, whyBroken: () => GatewayError): void {
    if (ending === 'complete' && !this.#watch.saysWhy) this.#endWithoutReason();
    else if (ending === 'complete') this.#finish({ kind: 'complete' });
    else if (this.#watch.isWhole && !this.#gate.insideEvent) this.#finishWhole();
    else if (ending === 'failed') this.#finish({ kind: 'complete', hasFailed: true });
    else this.#finish(brokenStep(whyBroken(), this.#gate.insideEvent, this.#watch, this.#options.text));
  }

  /** The stream has its last event. What it means is left to clients of its own API; those of others would have to be told a reason. */
  #endWithoutReason(): void {
    if (this.#options.isTranslated) {
      this.#finish(brokenStep(endedEarly(), false, this.#watch, this.#options.text));
      return;
    }
    this.#steps.push({ kind: 'error-event', message: 'The answer ended, but not with a reason.' });
    this.#finish({ kind: 'complete' });
  }

  /** The upstream had said why its answer ended; the client does not have to know what became of the upstream then. */
  #finishWhole(): void {
    if (this.#watch.missingEnd !== '') this.#pass(Buffer.from(this.#watch.missingEnd));
    this.#finish({ kind: 'complete' });
  }

  /** A partly sent event is not an end. */
  #ending(close: StreamClose): StreamEnd | null {
    return this.#gate.insideEvent ? null : this.#watch.ending(close);
  }
}

function namesResponse(event: unknown): boolean {
  return isObject(event) && isObject(event.response) && typeof event.response.id === 'string';
}

const alive: Step = { kind: 'alive' };
const malformedCallStep = damagedBy(unreadableCall, malformedCallFailure);

/** Limit for bytes before the first content; beyond it the stream is no longer held. */
const maxBytesBeforeContent = 256 * 1024;
/** Limit for a first event while memory is low. */
const spareBytes = 1024 * 1024;

/** Holds the beginning of a stream until this stream is chosen for the client. */
class HeldBeginning {
  #chunks: Buffer[] = [];
  #bytes = 0;
  /** The held chunks as events, used to track the text if another target may continue the stream. */
  #events: (StreamEvent | null)[] = [];

  get bytes(): number {
    return this.#bytes;
  }

  get isLong(): boolean {
    return this.#bytes > maxBytesBeforeContent;
  }

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
  }

  /** @param event null if it is too large to hold */
  note(event: StreamEvent | null): void {
    this.#events.push(event);
  }

  /** Adds the held events to the text that the client has received. */
  addTo(text: StreamText): void {
    for (const event of this.#events) text.take(event);
    this.#events = [];
  }

  /** Returns and clears the held bytes, joined into one buffer unless they are long. */
  takeAll(): Buffer[] {
    const chunks = this.#chunks;
    const isJoined = chunks.length > 1 && !this.isLong;
    this.#chunks = [];
    this.#bytes = 0;
    return isJoined ? [Buffer.concat(chunks)] : chunks;
  }
}
