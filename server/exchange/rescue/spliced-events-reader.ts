/**
 * Continues a broken stream with the response of another attempt. Nothing is sent while it repeats what the client
 * already has; what goes beyond that is sent under the ids of the first stream, so that the client sees one stream. A
 * response that contradicts it fails, unless the target was asked to continue from the text. Each event is parsed; speed
 * does not matter here.
 */

import type { EventGate } from '../../apis/core/framing.ts';
import type { StreamEvent } from '../../apis/core/sse-event.ts';
import { type Splice, type StreamText, takeEvents } from '../../apis/core/stream-text.ts';
import type { GatewayError } from '../../contract/errors.ts';
import type { TransportError } from '../../transport/transport-error.ts';
import {
  brokenBy,
  DroppedEvents,
  type ErrorEvent,
  endedEarly,
  maxTextEventBytes,
  refusalOf,
  type Streamed,
} from '../readers/broken-stream.ts';
import {
  brokenTransport,
  damagedBy,
  failWith,
  type ResponseReader,
  type Step,
  type Steps,
} from '../readers/response-reader.ts';

interface SpliceOptions extends Streamed {
  /** What the client has; grows with what is sent. */
  text: StreamText;
  splice: Splice;
}

export class SplicedEventsReader implements ResponseReader {
  readonly #options: SpliceOptions;
  readonly #gate: EventGate;
  #steps: Step[] = [];
  #isPassing = false;
  #isDifferent = false;
  #error: ErrorEvent | undefined;
  readonly #dropped: DroppedEvents;
  #hasFinished = false;

  constructor(options: SpliceOptions) {
    this.#options = options;
    this.#dropped = new DroppedEvents(options.format.framing);
    this.#gate = options.format.framing.openGate((bytes) => this.#send(bytes), {
      filter: (event, isWhole) => this.#splice(event, isWhole),
      maxHeldBytes: maxTextEventBytes,
    });
  }

  read(chunk: Buffer): Steps {
    this.#gate.push(chunk);
    if (this.#error) this.#finish(this.#refusalOf(this.#error));
    else if (this.#isDifferent) this.#finish(this.#differs());
    else if (this.#dropped.breakStream) return [...this.#takeSteps(), ...this.fail(this.#dropped.problem)];
    return this.#takeSteps();
  }

  end(): Steps {
    const rest = this.#gate.takeRest();
    const last = rest.length > 0 ? this.#splice(rest, true) : null;
    if (last) this.#send(last);
    if (this.#error) this.#finish(this.#refusalOf(this.#error));
    else if (this.#isDifferent) this.#finish(this.#differs());
    else if (!this.#isPassing) this.#finish(damagedBy('ended the stream before it said anything new'));
    else this.#finish(this.isComplete() ? { kind: 'complete' } : this.#broken(endedEarly()));
    return this.#takeSteps();
  }

  fail(error: TransportError): Steps {
    if (!this.#isPassing) return [brokenTransport(error)];
    return [this.isComplete() ? this.#whole() : this.#broken(brokenBy(error))];
  }

  isComplete(): boolean {
    return this.#options.splice.isFinished;
  }

  get hasFinished(): boolean {
    return this.isComplete();
  }

  /** What follows the end of the text is not distinguished. */
  mayContinue(): boolean {
    return true;
  }

  errorEvent(error: GatewayError): string {
    return this.#options.text.errorEvent(error.toBody().error);
  }

  get missingEnd(): Buffer | null {
    if (!this.#isPassing || !this.isComplete()) return null;
    return this.#options.text.lastEvent ?? Buffer.alloc(0);
  }

  get responseId(): string | null {
    return this.#options.splice.upstreamId;
  }

  #takeSteps(): Steps {
    const steps = this.#steps;
    this.#steps = [];
    return steps;
  }

  #finish(last: Step): void {
    if (this.#hasFinished) return;
    this.#hasFinished = true;
    this.#steps.push(last);
  }

  #send(bytes: Buffer): void {
    if (this.#error || this.#isDifferent) return;
    this.#isPassing = true;
    takeEvents(this.#options.text, bytes);
    this.#steps.push({ kind: 'pass', bytes });
  }

  #splice(bytes: Buffer, isWhole: boolean): Buffer | null {
    if (this.#error || this.#isDifferent || this.#dropped.breakStream) return null;
    if (!isWhole) {
      this.#isDifferent = true;
      return null;
    }
    const { framing } = this.#options.format;
    if (framing.isKeepAlive(bytes)) return null;
    const event = framing.readEvent(bytes);
    if (!event) {
      this.#dropped.add(bytes);
      this.#steps.push({ kind: 'dropped' });
    }
    return event && event.data !== '' ? this.#takeEvent(event, bytes) : null;
  }

  #takeEvent(event: StreamEvent, bytes: Buffer): Buffer | null {
    const { format, splice } = this.#options;
    const meaning = format.meaningOf(event);
    if (meaning.kind === 'error') {
      this.#error = { error: meaning.error, bytes: Buffer.from(bytes) };
      return null;
    }
    if (meaning.kind === 'content') this.#steps.push({ kind: 'content' }, { kind: 'alive' });
    else if (meaning.kind === 'alive' && this.#isPassing) this.#steps.push({ kind: 'alive' });
    const passing = splice.take(event.data);
    this.#isDifferent = splice.isDifferent;
    return this.#isDifferent ? null : passing;
  }

  #differs(): Step {
    return this.#isPassing ? this.#broken(endedEarly()) : failWith({ kind: 'divergence' });
  }

  /** Its error names a response that the client does not know, so the event itself is never passed on. */
  #refusalOf(error: ErrorEvent): Step {
    if (this.#isPassing && this.isComplete()) return this.#whole();
    if (this.#isPassing && !this.#options.text.read()) return this.#broken(endedEarly());
    const { event: _, ...reason } = refusalOf(error, this.#options);
    return failWith(reason);
  }

  /** Whatever follows the end of the answer, it is whole. */
  #whole(): Step {
    const { lastEvent } = this.#options.text;
    return lastEvent ? { kind: 'complete', bytes: lastEvent } : { kind: 'complete' };
  }

  /** Later events, such as a tool call, may make it impossible to continue once more. */
  #broken(error: GatewayError): Step {
    const { text } = this.#options;
    if (text.read()) return { kind: 'hand-over', error };
    return { kind: 'break', error, event: text.errorEvent(error.toBody().error) };
  }
}
