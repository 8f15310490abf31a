/**
 * An event stream on its way to the client. Nothing goes out before the first event that says something: until then an
 * error, an end or a silence is a failure like any other. From there on the bytes pass as they come; only whole events,
 * without those that no client could read, and with an end that can be told from a break.
 */
import type { GatewayError } from '../../contract/errors.ts';
import type { TransportError } from '../../transport/transport-error.ts';
import { type FirstError, refuseWith, sayingOf, tellsOfWork } from '../../wire/openai/first-event.ts';
import {
  kindOfRest,
  type StreamClose,
  type StreamEnd,
  type StreamProtocol,
  type StreamWatch,
  watchStream,
} from '../../wire/openai/stream-protocol.ts';
import { withoutUsage } from '../../wire/openai/usage-stripper.ts';
import { readBeginning, readEvent, type StreamEvent, saysNothing, writeEvent } from '../../wire/sse-event.ts';
import { SseGate } from '../../wire/sse-gate.ts';
import { maxEventBytes, type StreamText } from '../rescue/stream-text.ts';
import { brokenBy, endedEarly, mostDroppedEvents, unreadableEvents } from './broken-off.ts';
import { beginsLikeAnEvent } from './event-beginning.ts';
import { KnownEvents } from './known-events.ts';
import type { AttemptHost, ReplyBody } from './response-reader.ts';

interface StreamOptions {
  protocol: StreamProtocol;
  /** How many answers a chat stream brings beside one another. */
  choices: number;
  /** Usage was asked for by Sluice alone and has to be taken out again. */
  stripUsage: boolean;
  /** Keeps what the client has, so that another target can go on with it; null where none is to. */
  text: StreamText | null;
}

/** What may come before the first content; more is passed on, whatever it is. */
const maxBytesBeforeContent = 256 * 1024;

export class StreamedReply implements ReplyBody {
  readonly #host: AttemptHost;
  readonly #options: StreamOptions;
  readonly #gate: SseGate;
  readonly #watch: StreamWatch;
  readonly #known: KnownEvents;
  #hasContent = false;
  /** The latest event says something; so did one of those that came with it. */
  #isContent = false;
  #hasSaid = false;
  #error: FirstError | undefined;
  #droppedEvents = 0;
  #held: Buffer[] = [];
  #heldBytes = 0;
  /** The same, to be kept if they become the client's. */
  #heldEvents: (StreamEvent | null)[] = [];

  constructor(host: AttemptHost, options: StreamOptions) {
    this.#host = host;
    this.#options = options;
    const { protocol, choices, text } = options;
    this.#watch = watchStream(protocol, choices);
    this.#known = new KnownEvents(text, this.#watch);
    this.#gate = new SseGate((bytes) => this.#deliver(bytes), {
      filter: (bytes, whole) => (whole ? this.#passEvent(bytes) : this.#passBeginning(bytes)),
      known: this.#known,
      ...(text && { maxHeldBytes: maxEventBytes }),
    });
  }

  take(chunk: Buffer): void {
    this.#gate.push(chunk);
    if (this.#host.isOver) return;
    if (this.#hasSaid || this.#known.hasSaid || this.#gate.insideEvent) this.#progressed();
    if (this.#host.hasBegun) this.#host.insideEvent(this.#gate.insideEvent);
    if (this.#error) this.#failWith(this.#error);
    else if (this.#isUnreadable) this.fail(unreadableEvents());
  }

  end(): void {
    const close = this.#takeRest();
    if (this.#host.isOver) return;
    if (this.#host.hasBegun && !this.#error) this.#close(this.#ending(close), endedEarly);
    else if (this.#error) this.#failWith(this.#error);
    else this.#host.damaged('ended the stream before it said anything');
  }

  fail(error: TransportError): void {
    if (!this.#host.hasBegun) this.#host.failTransport(error);
    else this.#close(this.#ending('cut'), () => brokenBy(error));
  }

  isComplete(): boolean {
    return !this.#gate.insideEvent && this.#watch.isComplete;
  }

  mayGoOn(): boolean {
    return this.#watch.mayGoOn;
  }

  get #isUnreadable(): boolean {
    return this.#droppedEvents >= mostDroppedEvents;
  }

  #passEvent(bytes: Buffer): Buffer | null {
    if (this.#error || this.#isUnreadable) return null;
    if (saysNothing(bytes)) return bytes;
    const event = readEvent(bytes.toString('utf8'));
    if (!event) this.#dropEvent();
    const passing = event && this.#look(bytes, event);
    if (!event || !passing) return null;
    // At once, so that those like it in the same chunk are known already.
    if (this.#hasContent) this.#begin();
    const text = this.#keep(event);
    if (this.#isContent && this.#host.hasBegun) this.#known.learn({ bytes, passing, text });
    return passing;
  }

  #dropEvent(): void {
    this.#droppedEvents++;
    this.#host.droppedEvent();
  }

  /** An event too large to be held is a picture. */
  #passBeginning(bytes: Buffer): Buffer {
    if (!this.#hasContent && !beginsLikeAnEvent(bytes)) {
      this.#host.damaged('sent something that is no stream of events');
      return bytes;
    }
    this.#saysContent();
    this.#watch.note(readBeginning(bytes));
    this.#begin();
    this.#keep(null);
    return bytes;
  }

  /** What of it is to be sent. */
  #look(bytes: Buffer, event: StreamEvent): Buffer | null {
    if (!this.#error) this.#listen(event);
    if (this.#error) return null;
    this.#watch.note(event);
    return this.#options.stripUsage ? withoutUsage(bytes) : bytes;
  }

  #listen(event: StreamEvent): void {
    const saying = sayingOf(event, this.#options.protocol);
    this.#isContent = saying.kind === 'content';
    if (this.#isContent) this.#saysContent();
    else if (this.#hasContent && tellsOfWork(event, this.#options.protocol)) this.#hasSaid = true;
    // An error after content is passed on, unless another target may go on in its place.
    const isHeard = !this.#hasContent || this.#options.text !== null;
    if (saying.kind !== 'error' || !isHeard) return;
    this.#error = { error: saying.error, event };
    this.#known.forget();
  }

  #saysContent(): void {
    this.#hasSaid = true;
    if (this.#hasContent) return;
    this.#hasContent = true;
    this.#host.contentCame();
  }

  #progressed(): void {
    this.#hasSaid = false;
    this.#known.hasSaid = false;
    this.#host.progressed();
  }

  /** Returns what the event adds to the text; null where none is kept. */
  #keep(event: StreamEvent | null): string | null {
    const { text } = this.#options;
    if (text && this.#host.hasBegun) return text.take(event);
    if (text) this.#heldEvents.push(event);
    return null;
  }

  #begin(): void {
    if (this.#host.hasBegun || this.#host.isOver || !this.#host.begin()) return;
    for (const event of this.#heldEvents) this.#options.text?.take(event);
    this.#heldEvents = [];
  }

  #deliver(bytes: Buffer): void {
    if (this.#host.isOver) return;
    if (this.#host.hasBegun && this.#held.length === 0) {
      this.#host.write(bytes);
      return;
    }
    this.#held.push(bytes);
    this.#heldBytes += bytes.length;
    if (this.#heldBytes > maxBytesBeforeContent) this.#begin();
    if (this.#host.hasBegun) this.#release();
  }

  /** In one write, as it would have come. */
  #release(): void {
    const [first] = this.#held;
    const all = first && this.#held.length === 1 ? first : Buffer.concat(this.#held);
    this.#held = [];
    this.#host.write(all);
  }

  /** What follows the last blank line is sent only where the stream has ended well: it may be a mere piece of an event. */
  #takeRest(): StreamClose {
    const rest = this.#gate.takeRest();
    if (rest.length === 0) return 'ended';
    const last = readEvent(rest.toString('utf8'));
    const kind = kindOfRest(rest, last);
    const close = kind === 'piece' ? 'cut' : 'ended';
    const event = kind === 'event' ? last : null;
    const passing = event ? this.#look(rest, event) : rest;
    if (!passing) return close;
    if (this.#host.hasBegun) {
      if (this.#ending(close)) this.#host.write(passing);
    } else if (event && this.#hasContent) this.#takeOnlyContent(passing, close);
    return close;
  }

  /** A stream that says something in its very last event, which has no end of its own. */
  #takeOnlyContent(last: Buffer, close: StreamClose): void {
    this.#held.push(last);
    if (this.#ending(close)) this.#begin();
    if (this.#host.hasBegun) this.#release();
  }

  /** After content it is passed on after all, where nobody else can go on. */
  #failWith(error: FirstError): void {
    if (!this.#host.hasBegun || this.#options.text?.read()) {
      refuseWith(this.#host, error);
      return;
    }
    this.#host.write(Buffer.from(writeEvent(error.event)));
    this.#host.completeWithError();
  }

  #close(ending: StreamEnd | null, whyBroken: () => GatewayError): void {
    if (ending === 'complete') this.#host.complete();
    else if (ending === 'failed') this.#host.completeWithError();
    else this.#breakOff(whyBroken());
  }

  #breakOff(error: GatewayError): void {
    const soFar = this.#gate.insideEvent ? null : (this.#options.text?.read() ?? null);
    // Nothing is missing but the end itself.
    if (soFar?.isFinished) this.#host.complete(doneEvent);
    else if (soFar) this.#host.giveOver(error);
    else this.#host.breakOff(error, this.#gate.insideEvent ? null : this.#watch.errorEvent(error.toBody().error));
  }

  /** An event of which only the beginning has been sent is no end yet. */
  #ending(close: StreamClose): StreamEnd | null {
    return this.#gate.insideEvent ? null : this.#watch.ending(close);
  }
}

const doneEvent = Buffer.from('data: [DONE]\n\n');
