/**
 * An event stream on its way to the client. Nothing goes out before the first event that says something: until then an
 * error, an end or a silence is a failure like any other. From there on the bytes pass as they come; only whole events,
 * without those that no client could read, and with an end that can be told from a break.
 */
import type { GatewayError } from '../../contract/errors.ts';
import { endlessFailure } from '../../routing/classify-failure.ts';
import type { TransportError } from '../../transport/transport-error.ts';
import type { EventGate, Framing } from '../../wire/framing.ts';
import type { StreamEvent } from '../../wire/sse-event.ts';
import type { StreamClose, StreamEnd, StreamWatch } from '../../wire/stream-format.ts';
import type { StreamText } from '../../wire/stream-text.ts';
import {
  brokenBy,
  endedEarly,
  endlessEvent,
  maxStreamedEventBytes,
  mostDroppedEvents,
  unreadableEvents,
} from './broken-off.ts';
import { type ErrorEvent, refusalOf, type Streamed } from './error-event.ts';
import { KnownEvents } from './known-events.ts';
import {
  brokenTransport,
  damagedBy,
  failWith,
  nothingYet,
  type ResponseReader,
  type Step,
  type Steps,
} from './response-reader.ts';

interface EventsOptions extends Streamed {
  /** How many answers the stream brings beside one another. */
  answers: number;
  /** Usage was asked for by Sluice alone and has to be taken out again. */
  stripUsage: boolean;
  /** Keeps what the client has, so that another target can go on with it; null where none is to. */
  text: StreamText | null;
}

/** Where a stream is to be gone on with, its events are held up to this: those of a response repeat its instructions and tools. */
export const maxTextEventBytes = 512 * 1024;
/** What may come before the first content; more is passed on, whatever it is. */
const maxBytesBeforeContent = 256 * 1024;
/** Where memory is short, no first event is kept beyond this. */
const spareBytes = 1024 * 1024;

export class EventsReader implements ResponseReader {
  readonly #options: EventsOptions;
  readonly #framing: Framing;
  readonly #gate: EventGate;
  readonly #watch: StreamWatch;
  readonly #known: KnownEvents;
  /** What the bytes at hand have come to so far. */
  #steps: Step[] = [];
  #hasContent = false;
  /** The client gets what comes. */
  #isPassing = false;
  /** The latest event says something; so did one of those that came with it. */
  #isContent = false;
  #hasSaid = false;
  #error: ErrorEvent | undefined;
  #droppedEvents = 0;
  #isOver = false;
  #held: Buffer[] = [];
  #heldBytes = 0;
  /** So far, of an event that is too large for the gate. */
  #eventBytes = 0;
  /** What is held as events, to be kept if they become the client's. */
  #heldEvents: (StreamEvent | null)[] = [];

  constructor(options: EventsOptions) {
    this.#options = options;
    const { format, answers, text } = options;
    this.#watch = format.watch(answers);
    this.#known = new KnownEvents(text, this.#watch);
    this.#framing = format.framing;
    this.#gate = this.#framing.openGate((bytes) => this.#deliver(bytes), {
      filter: (bytes, whole) => (whole ? this.#passEvent(bytes) : this.#passBeginning(bytes)),
      known: this.#known,
      ...(text && { maxHeldBytes: maxTextEventBytes }),
    });
  }

  read(chunk: Buffer): Steps {
    this.#gate.push(chunk);
    if (this.#hasSaid || this.#known.hasSaid || this.#gate.insideEvent) this.#progressed();
    if (this.#isOver) return this.#taken();
    if (this.#error) this.#failWith(this.#error);
    else if (this.#isUnreadable) this.#break(unreadableEvents());
    else if (this.#eventBytes > maxStreamedEventBytes) this.#endless();
    return this.#taken();
  }

  end(): Steps {
    const close = this.#takeRest();
    if (this.#isOver) return this.#taken();
    if (this.#isPassing && !this.#error) this.#close(this.#ending(close), endedEarly);
    else if (this.#error) this.#failWith(this.#error);
    else
      this.#finish(
        damagedBy(this.#hasContent ? 'broke off its first event' : 'ended the stream before it said anything'),
      );
    return this.#taken();
  }

  fail(error: TransportError): Steps {
    this.#break(error);
    return this.#taken();
  }

  get heldBytes(): number {
    return this.#heldBytes > maxBytesBeforeContent ? this.#heldBytes : 0;
  }

  letPass(): Steps {
    if (!this.#isOver && !this.#isPassing && this.#heldBytes > spareBytes) {
      this.#begin();
      this.#release();
    }
    return this.#taken();
  }

  #endless(): void {
    if (this.#isPassing) this.#break(endlessEvent());
    else this.#finish(damagedBy('sent an event without end', endlessFailure));
  }

  #break(error: TransportError): void {
    if (this.#isPassing) this.#close(this.#ending('cut'), () => brokenBy(error));
    else this.#finish(brokenTransport(error));
  }

  isComplete(): boolean {
    return !this.#gate.insideEvent && this.#watch.isComplete;
  }

  mayGoOn(): boolean {
    return this.#watch.mayGoOn;
  }

  get isInsideEvent(): boolean {
    return this.#gate.insideEvent;
  }

  get #isUnreadable(): boolean {
    return this.#droppedEvents >= mostDroppedEvents;
  }

  #taken(): Steps {
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
    if (this.#error || this.#isUnreadable) return null;
    if (this.#framing.saysNothing(bytes)) return bytes;
    const event = this.#framing.readEvent(bytes);
    if (!event) this.#dropEvent();
    // Official SDKs parse the data of an event that has none, and fail: openai-python#2722, openai-go#556, and those in
    // JavaScript where it has a name (anthropic-sdk-typescript#861).
    if (event?.data === '') return null;
    const passing = event && this.#look(bytes, event);
    if (!event || !passing) return null;
    // At once, so that those like it in the same chunk are known already.
    if (this.#hasContent) this.#begin();
    const text = this.#keep(event);
    if (this.#isContent && this.#isPassing) this.#known.learn({ bytes, passing, text });
    return passing;
  }

  #dropEvent(): void {
    this.#droppedEvents++;
    this.#steps.push(dropped);
  }

  /** An event too large to be looked into is a picture or a whole response. If it is the first, it is held to its end. */
  #passBeginning(bytes: Buffer): Buffer {
    if (!this.#hasContent && !this.#framing.beginsLikeAnEvent(bytes)) {
      this.#finish(damagedBy('sent something that is no stream of events'));
      return bytes;
    }
    this.#saysContent();
    this.#watch.note(this.#framing.readBeginning(bytes));
    this.#keep(null);
    return bytes;
  }

  /** What of it is to be sent. */
  #look(bytes: Buffer, event: StreamEvent): Buffer | null {
    if (!this.#error) this.#listen(event, bytes);
    if (this.#error) return null;
    this.#watch.note(event);
    const { stripUsage, format } = this.#options;
    return stripUsage && format.withoutUsage ? format.withoutUsage(bytes) : bytes;
  }

  #listen(event: StreamEvent, bytes: Buffer): void {
    const saying = this.#options.format.sayingOf(event);
    this.#isContent = saying.kind === 'content';
    if (this.#isContent) this.#saysContent();
    else if (saying.kind === 'alive' && this.#hasContent) this.#hasSaid = true;
    // An error after content is passed on, unless another target may go on in its place.
    const isHeard = !this.#hasContent || this.#options.text !== null;
    if (saying.kind !== 'error' || !isHeard) return;
    this.#error = { error: saying.error, bytes: Buffer.from(bytes) };
    this.#known.forget();
  }

  #saysContent(): void {
    this.#hasSaid = true;
    if (this.#hasContent) return;
    this.#hasContent = true;
    this.#steps.push({ kind: 'content' });
  }

  #progressed(): void {
    this.#hasSaid = false;
    this.#known.hasSaid = false;
    this.#steps.push(alive);
  }

  /** Returns what the event adds to the text; null where none is kept. */
  #keep(event: StreamEvent | null): string | null {
    const { text } = this.#options;
    if (text && this.#isPassing) return text.take(event);
    if (text) this.#heldEvents.push(event);
    return null;
  }

  #begin(): void {
    if (this.#isPassing) return;
    this.#isPassing = true;
    for (const event of this.#heldEvents) this.#options.text?.take(event);
    this.#heldEvents = [];
  }

  #deliver(bytes: Buffer): void {
    if (this.#isOver) return;
    const { insideEvent } = this.#gate;
    this.#eventBytes = insideEvent ? this.#eventBytes + bytes.length : 0;
    if (this.#isPassing && this.#held.length === 0) {
      this.#pass(bytes);
      return;
    }
    this.#held.push(bytes);
    this.#heldBytes += bytes.length;
    if (this.#hasContent ? !insideEvent : this.#heldBytes > maxBytesBeforeContent) this.#begin();
    if (this.#isPassing) this.#release();
  }

  #pass(bytes: Buffer): void {
    this.#steps.push({ kind: 'pass', bytes });
  }

  /** In one write, as it would have come, unless it is long. */
  #release(): void {
    const pieces = this.#held;
    const isJoined = pieces.length > 1 && this.#heldBytes <= maxBytesBeforeContent;
    this.#held = [];
    this.#heldBytes = 0;
    for (const bytes of isJoined ? [Buffer.concat(pieces)] : pieces) this.#pass(bytes);
  }

  /** What follows the last blank line is sent only where the stream has ended well: it may be a mere piece of an event. */
  #takeRest(): StreamClose {
    const rest = this.#gate.takeRest();
    if (rest.length === 0) return 'ended';
    const last = this.#framing.readEvent(rest);
    const kind = this.#framing.kindOfRest(rest, last);
    const close = kind === 'piece' ? 'cut' : 'ended';
    const event = kind === 'event' ? last : null;
    const passing = event ? this.#look(rest, event) : rest;
    if (!passing) return close;
    if (this.#isPassing) {
      if (this.#ending(close)) this.#pass(passing);
    } else if (event && this.#hasContent) this.#takeOnlyContent(passing, close);
    return close;
  }

  /** A stream that says something in its very last event, which has no end of its own. */
  #takeOnlyContent(last: Buffer, close: StreamClose): void {
    this.#held.push(last);
    if (this.#ending(close)) this.#begin();
    if (this.#isPassing) this.#release();
  }

  /** After content it is passed on as it came, where nobody else can go on, or nobody should: the request is at fault. */
  #failWith(error: ErrorEvent): void {
    const refusal = refusalOf(error, this.#options);
    if (!this.#isPassing || (refusal.failure.class !== 'rejected' && this.#options.text?.read())) {
      this.#finish(failWith(refusal));
      return;
    }
    this.#pass(error.bytes);
    this.#finish({ kind: 'complete', hasFailed: true });
  }

  #close(ending: StreamEnd | null, whyBroken: () => GatewayError): void {
    if (ending === 'complete') this.#finish({ kind: 'complete' });
    else if (ending === 'failed') this.#finish({ kind: 'complete', hasFailed: true });
    else this.#finish(this.#broken(whyBroken()));
  }

  #broken(error: GatewayError): Step {
    const soFar = this.#gate.insideEvent ? null : (this.#options.text?.read() ?? null);
    // Nothing is missing but the end itself.
    const lastEvent = soFar?.isFinished ? this.#options.text?.lastEvent : null;
    if (lastEvent) return { kind: 'complete', bytes: lastEvent };
    if (soFar) return { kind: 'hand-over', error };
    const event = this.#gate.insideEvent ? null : this.#watch.errorEvent(error.toBody().error);
    return { kind: 'break', error, event };
  }

  /** An event of which only the beginning has been sent is no end yet. */
  #ending(close: StreamClose): StreamEnd | null {
    return this.#gate.insideEvent ? null : this.#watch.ending(close);
  }
}

const alive: Step = { kind: 'alive' };
const dropped: Step = { kind: 'dropped' };
