/**
 * The rest of an answer whose first stream broke, from another one. As long as this one says what the client has already,
 * nothing goes out; where it goes beyond, that does, under the names of the first, so that the client sees one stream. One
 * that says something else is of no use, unless it was asked to go on from there. Off the fast path: each event is parsed.
 */
import type { GatewayError } from '../../contract/errors.ts';
import type { TransportError } from '../../transport/transport-error.ts';
import { type FirstError, refuseWith, sayingOf, tellsOfWork } from '../../wire/openai/first-event.ts';
import type { StreamProtocol } from '../../wire/openai/stream-protocol.ts';
import { readEvent, type StreamEvent, saysNothing } from '../../wire/sse-event.ts';
import { SseGate } from '../../wire/sse-gate.ts';
import { brokenBy, endedEarly, mostDroppedEvents, unreadableEvents } from '../readers/broken-off.ts';
import type { AttemptHost, ReplyBody } from '../readers/response-reader.ts';
import { maxEventBytes, type StreamText, takeAll } from './stream-text.ts';

/** Turns the events of the second stream into what the first would have gone on with. Knows what the client has. */
export interface Splice {
  readonly protocol: StreamProtocol;
  /** What the upstream calls this answer, where it can be asked for later. */
  readonly upstreamId: string | null;
  /** It says something else than what the client has. */
  readonly isDifferent: boolean;
  /** The answer is whole. */
  readonly isFinished: boolean;
  /** The data of an event that is sound and no error; null where nothing of it is to be sent. */
  take(data: string): Buffer | null;
}

interface SpliceOptions {
  /** What the client has; grows with what is sent on. */
  text: StreamText;
  splice: Splice;
  /** Told before anything is sent on. */
  foundAs(upstreamId: string): void;
}

export class SplicedReply implements ReplyBody {
  readonly #host: AttemptHost;
  readonly #options: SpliceOptions;
  readonly #gate: SseGate;
  #isDifferent = false;
  #error: FirstError | undefined;
  #droppedEvents = 0;

  constructor(host: AttemptHost, options: SpliceOptions) {
    this.#host = host;
    this.#options = options;
    this.#gate = new SseGate((bytes) => this.#send(bytes), {
      filter: (event, whole) => this.#splice(event, whole),
      maxHeldBytes: maxEventBytes,
    });
  }

  take(chunk: Buffer): void {
    this.#gate.push(chunk);
    if (this.#host.isOver) return;
    if (this.#error) this.#refuse(this.#error);
    else if (this.#isDifferent) this.#differs();
    else if (this.#droppedEvents >= mostDroppedEvents) this.fail(unreadableEvents());
  }

  end(): void {
    const rest = this.#gate.takeRest();
    if (rest.length > 0) {
      const last = this.#splice(rest, true);
      if (last) this.#send(last);
    }
    if (this.#host.isOver) return;
    if (this.#error) this.#refuse(this.#error);
    else if (this.#isDifferent) this.#differs();
    else if (!this.#host.hasBegun) this.#host.damaged('ended the stream before it said anything new');
    else if (this.isComplete()) this.#host.complete();
    else this.#giveOver(endedEarly());
  }

  fail(error: TransportError): void {
    if (!this.#host.hasBegun) this.#host.failTransport(error);
    else if (this.isComplete()) this.#host.complete();
    else this.#giveOver(brokenBy(error));
  }

  isComplete(): boolean {
    return this.#options.splice.isFinished;
  }

  /** What its upstream says at the end is not kept apart. */
  mayGoOn(): boolean {
    return true;
  }

  #send(bytes: Buffer): void {
    if (this.#host.isOver || this.#error || this.#isDifferent) return;
    const { text, splice, foundAs } = this.#options;
    if (!this.#host.hasBegun) {
      if (!this.#host.begin()) return;
      if (splice.upstreamId !== null) foundAs(splice.upstreamId);
    }
    takeAll(text, bytes);
    this.#host.write(bytes);
  }

  #splice(bytes: Buffer, whole: boolean): Buffer | null {
    if (this.#error || this.#isDifferent || this.#droppedEvents >= mostDroppedEvents) return null;
    if (!whole) {
      this.#isDifferent = true;
      return null;
    }
    if (saysNothing(bytes)) return null;
    const event = readEvent(bytes.toString('utf8'));
    if (!event) this.#dropEvent();
    return event && event.data !== '' ? this.#take(event) : null;
  }

  #dropEvent(): void {
    this.#droppedEvents++;
    this.#host.droppedEvent();
  }

  #take(event: StreamEvent): Buffer | null {
    const { splice } = this.#options;
    const saying = sayingOf(event, splice.protocol);
    if (saying.kind === 'error') {
      this.#error = { error: saying.error, event };
      return null;
    }
    if (saying.kind === 'content') {
      this.#host.contentCame();
      this.#host.progressed();
    } else if (this.#host.hasBegun && tellsOfWork(event, splice.protocol)) this.#host.progressed();
    const passing = splice.take(event.data);
    this.#isDifferent = splice.isDifferent;
    return this.#isDifferent ? null : passing;
  }

  #differs(): void {
    if (this.#host.hasBegun) this.#giveOver(endedEarly());
    else this.#host.diverged();
  }

  #refuse(error: FirstError): void {
    if (!this.#host.hasBegun || this.#options.text.read()) refuseWith(this.#host, error);
    else this.#giveOver(endedEarly());
  }

  /** What came since, such as the call of a tool, may be nothing that can be gone on with once more. */
  #giveOver(error: GatewayError): void {
    const { text } = this.#options;
    if (text.read()) this.#host.giveOver(error);
    else this.#host.breakOff(error, text.errorEvent(error.toBody().error));
  }
}
