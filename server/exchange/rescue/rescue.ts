/**
 * How a response that broke off after content is continued by another attempt, so that the client gets one answer. This
 * is the room's only door: it knows what the client has, which attempt may continue it, and what its response is read
 * with.
 */

import type { EventGate, StreamEvent } from '../../apis/core/stream-format.ts';
import { type PartialText, type Splice, type StreamText, takeEvents, type Wire } from '../../apis/core/wire.ts';
import type { ErrorBody, GatewayError } from '../../contract/errors.ts';
import type { AttemptResult } from '../../routing/attempt-result.ts';
import type { Target } from '../../routing/snapshot.ts';
import type { TransportError } from '../../transport/transport-error.ts';
import type { CallPlan } from '../plan/plan.ts';
import {
  brokenBy,
  brokenTransport,
  DroppedEvents,
  damagedBy,
  type ErrorEvent,
  endedEarly,
  failWith,
  maxTextEventBytes,
  type ResponseHead,
  type ResponseReader,
  refusalOf,
  type Step,
  type Steps,
  type Streamed,
} from '../readers/response-reader.ts';
import type { AttemptTrace } from '../record/exchange-trace.ts';
import type { OutgoingCall } from '../request/outgoing-call.ts';
import type { AnswerTranslation } from '../translation/answer-translation.ts';
import { Download, DownloadReader } from './download.ts';

/** What the rescue of a response needs of an attempt's reader. */
export interface RescueNeeds {
  /** Collects what the client has of a text stream; null if no other target may continue it. */
  text: StreamText | null;
  /** Set if the client has the beginning of an answer and this attempt is for the rest. */
  rest: MissingRest | null;
  /** Null if the rest of a broken download cannot be requested. */
  download: Download | null;
}

interface MissingRest {
  soFar: PartialText;
  /** The target is asked to continue from what the client has rather than for the whole answer. */
  isContinuation: boolean;
  /** Called with the target's id of the answer before any of it is sent on. */
  foundAs(upstreamId: string): void;
}

/** The response of one request, over all its attempts. */
export class Rescue {
  readonly #plan: CallPlan;
  readonly #call: OutgoingCall;
  /** Null if no other target may continue a broken stream. */
  readonly #text: StreamText | null;
  /** Null if a broken download cannot be resumed. */
  readonly #download: Download | null;
  /** The translation that produced the client's answer so far; null if its bytes are an upstream's own. */
  #translation: AnswerTranslation | null = null;
  #isBroken = false;
  /** Targets whose text differed from the broken stream, but which can be asked to continue it. */
  #continuing: Set<Target> | undefined;

  constructor(plan: CallPlan, call: OutgoingCall, method: string | undefined) {
    this.#plan = plan;
    this.#call = call;
    this.#text = mayBeRescued(plan, call) ? (call.match.route.wire.rescue?.openText() ?? null) : null;
    this.#download = mayBeResumed(call, method) ? new Download() : null;
  }

  /** The client has the beginning of an answer, and no attempt is delivering the rest yet. */
  get isBroken(): boolean {
    return this.#isBroken;
  }

  /** What the client has of a text; null if no other target could have continued it. */
  get text(): StreamText | null {
    return this.#translation ? new TranslatedText(this.#translation) : this.#text;
  }

  /** An attempt has become the answer. */
  answers(translation: AnswerTranslation | null): void {
    this.#translation = translation;
  }

  learn(target: Target, result: AttemptResult | { kind: 'redirected' }): void {
    if (result.kind === 'broken') this.#isBroken = true;
    else if (result.kind === 'failed' && result.failure.continues) {
      this.#continuing ??= new Set();
      this.#continuing.add(target);
    }
  }

  /**
   * False if an attempt with this translation cannot continue what the client has: a translated answer can only be continued by
   * another translated one, and an unchanged one only by another unchanged one.
   */
  mayContinue(translation: AnswerTranslation | null): boolean {
    if (!this.#isBroken) return true;
    const brokenTranslation = this.#translation;
    if (translation && brokenTranslation) translation.continue(brokenTranslation);
    return (translation === null) === (brokenTranslation === null);
  }

  /** What the target is asked to continue; null if it is asked for the whole answer. */
  soFarFor(target: Target): PartialText | null {
    return this.#continuing?.has(target) ? (this.#text?.read() ?? null) : null;
  }

  /** Headers that request the rest of a file; undefined if nothing of it has been passed on. */
  restHeaders(): Record<string, string> | undefined {
    return this.#download?.restHeaders();
  }

  needsOf(target: Target, translation: AnswerTranslation | null, { made }: AttemptTrace): RescueNeeds {
    if (translation) {
      const isContinued = mayTranslatedBeRescued(this.#plan, this.#call);
      return { text: isContinued ? new TranslatedText(translation) : null, rest: null, download: this.#download };
    }
    return { text: this.#text, rest: this.#restFor(target, made), download: this.#download };
  }

  #restFor(target: Target, made: AttemptTrace['made']): MissingRest | null {
    const soFar = this.#isBroken ? this.#text?.read() : null;
    if (!soFar) return null;
    return {
      soFar,
      isContinuation: this.#continuing?.has(target) ?? false,
      foundAs: (upstreamId) => {
        if (soFar.storedId === undefined || !this.#call.body.fields.store) return;
        made?.completed(soFar.storedId, upstreamId);
      },
    };
  }
}

/** Reads the rest of a broken stream; null if this is none. */
export function restReader(
  { rescue }: Wire,
  streamed: Streamed,
  { text, rest, stripUsage }: RescueNeeds & { stripUsage: boolean },
): ResponseReader | null {
  if (!text || !rest || !rescue) return null;
  const splice = rescue.openSplice(rest.soFar, { isContinuation: rest.isContinuation, stripUsage });
  return new SplicedEventsReader({ ...streamed, text, splice });
}

/** Reads a file of at least this length, or the rest of one; null for any other response. */
export function fileReader(
  { download }: Pick<RescueNeeds, 'download'>,
  head: ResponseHead,
  minBytes: number,
): ResponseReader | 'other-file' | null {
  if (download?.isUnderWay) return download.continues(head) ? new DownloadReader(download) : 'other-file';
  return download?.begins(head, minBytes) ? new DownloadReader(download) : null;
}

/** Only a single text can be assembled from two streams: one choice, and only on some routes. */
function mayBeRescued(plan: CallPlan, call: OutgoingCall): boolean {
  const { match, body } = call;
  return mayTranslatedBeRescued(plan, call) && match.route.wire.request.isOneText(body);
}

/** A translated answer is always a single one; what it contains decides whether it can be continued. */
function mayTranslatedBeRescued({ targets }: CallPlan, { group, match, body }: OutgoingCall): boolean {
  const { rescue, retries } = group.policy;
  if (rescue === 'off' || !body.fields.stream || (targets.length === 1 && retries === 0)) return false;
  return match.route.job === null || match.route.job.behaviour === 'creates';
}

/** Only the rest of a file can be requested by its offset. */
function mayBeResumed({ group, match }: OutgoingCall, method: string | undefined): boolean {
  return match.route.content && match.passthrough === null && method === 'GET' && group.policy.rescue === 'resume';
}

/**
 * Stands for the client's text while a stream is translated: the translation knows what the client has, so this only
 * reports whether another attempt can continue it.
 */
class TranslatedText implements StreamText {
  readonly lastEvent = null;
  readonly #translation: AnswerTranslation;

  constructor(translation: AnswerTranslation) {
    this.#translation = translation;
  }

  take(): string {
    return '';
  }

  append(): void {}

  counted(): void {}

  read(): { text: string; isFinished: false } | null {
    return this.#translation.isContinuable ? continuable : null;
  }

  errorEvent(error: ErrorBody): string {
    const event = this.#translation.errorEvent(error);
    // A stream that is translated in another thread is not continued, so no one asks.
    return typeof event === 'string' ? event : '';
  }
}

const continuable = { text: '', isFinished: false } as const;

interface SpliceOptions extends Streamed {
  /** What the client has; grows with what is sent. */
  text: StreamText;
  splice: Splice;
}

/**
 * Continues a broken stream with the response of another attempt. Nothing is sent while it repeats what the client
 * already has; what goes beyond that is sent under the ids of the first stream, so that the client sees one stream. A
 * response that contradicts it fails, unless the target was asked to continue from the text. Each event is parsed;
 * speed does not matter here.
 */
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
