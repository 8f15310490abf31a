import { errorNameIn } from '../../apis/core/errors/error-names.ts';
import { malformedCall } from '../../apis/neutral/answers/wire-translation.ts';
import { type Loss, lossHeaders } from '../../apis/neutral/losses.ts';
import type { GatewayError } from '../../contract/errors.ts';
import type { FailureClass } from '../../contract/ledger.ts';
import type { MaybePromise } from '../../ground/promises.ts';
import { damageOf, malformedAfterContentFailure, malformedCallFailure } from '../../routing/attempt-result.ts';
import type { Target } from '../../routing/snapshot.ts';
import type { ResponseHeaders } from '../../transport/transport.ts';
import {
  type FailureReason,
  type RequestFacts,
  type ResponseReader,
  type Step,
  unreadableCall,
} from '../readers/response-reader.ts';
import type { AttemptNotes, AttemptTrace } from '../record/exchange-trace.ts';
import type { UpstreamResponseObserver } from '../record/response-taps.ts';
import type { AnswerTranslation } from '../translation/answer-translation.ts';
import { failureInStream } from './attempt-failures.ts';
import type { ClientResponse } from './client-response.ts';
import type { IncomingResponse } from './incoming-response.ts';

type Complete = Extract<Step, { kind: 'complete' }>;

export interface DeliveryOptions {
  client: ClientResponse;
  trace: AttemptTrace;
  target: Target;
  facts: RequestFacts;
  /** Null if the client speaks the upstream's API, so that bytes are forwarded unchanged. */
  translation: AnswerTranslation | null;
  /** Of a request that was not translated. */
  losses: readonly Loss[];
  /** Number of attempts so far, including this one. */
  number: number;
  /** Observer of the response, called from the first byte sent to the client; null: none. */
  observer(): UpstreamResponseObserver | null;
}

/** Sends one attempt's answer to the client, translated if the client speaks another API. */
export class AnswerDelivery {
  readonly #options: DeliveryOptions;
  readonly #notes: AttemptNotes;
  /** Paused while the client does not read. */
  readonly #source: IncomingResponse;
  #observer: UpstreamResponseObserver | null = null;

  constructor(options: DeliveryOptions, notes: AttemptNotes, source: IncomingResponse) {
    this.#options = options;
    this.#notes = notes;
    this.#source = source;
  }

  /** Sends the response head. */
  begin(status: number, headers: ResponseHeaders): void {
    const { observer, trace } = this.#options;
    trace.hasBegun = true;
    this.#observer = observer();
    this.#observer?.begin(status, trace.responseType, headers);
    this.#sendHead(status, headers);
  }

  /** The bytes for the client; empty if nothing can be sent yet. */
  translated(bytes: Buffer): MaybePromise<Buffer> {
    const { translation } = this.#options;
    return translation ? translation.push(bytes) : bytes;
  }

  /** Sends translated bytes; call `begin` first. */
  pass(bytes: Buffer): void {
    if (bytes.length > 0) this.#send(bytes);
  }

  /** Converts a complete, unsent answer to the client's format; returns why, if it cannot be used. */
  whole(step: Complete): MaybePromise<Complete | FailureReason> {
    const { translation } = this.#options;
    if (!translation) return step;
    const translated = translation.whole(step.bytes ?? Buffer.alloc(0));
    return translated instanceof Promise
      ? translated.then((settled) => this.#outcomeOf(step, translation, settled))
      : this.#outcomeOf(step, translation, translated);
  }

  #outcomeOf(step: Complete, translation: AnswerTranslation, translated: Buffer | string): Complete | FailureReason {
    if (Buffer.isBuffer(translated)) return { ...step, bytes: translated };
    if (translation.isMalformedCall) return { kind: 'damage', problem: unreadableCall, failure: malformedCallFailure };
    const failure = translated === malformedCall.message ? malformedAfterContentFailure : undefined;
    return {
      kind: 'damage',
      problem: `sent an unusable answer: ${withoutStop(translated)}`,
      ...(failure && { failure }),
    };
  }

  /**
   * Ends a stream that was sent as it arrived. Even a complete upstream stream can fail in translation, for example if a
   * tool call's arguments are truncated; the client then receives an error event.
   * @param bytes the translated end; undefined if bytes are forwarded unchanged
   */
  endStream(step: Complete, bytes: Buffer | undefined): FailureClass | null {
    const { translation, client } = this.#options;
    if (!translation || !bytes) return this.end(step);
    if (step.hasFailed || translation.failure === null) return this.end({ ...step, bytes });
    this.#notes.failed('stream-broken', translation.failure);
    client.end('stream-broken', 'upstream_malformed', bytes);
    return 'stream-broken';
  }

  /** Returns the failure that the answer itself reports; null if it reports none. */
  end({ bytes, whole, hasFailed }: Complete): FailureClass | null {
    const { client, trace } = this.#options;
    if (whole) trace.excerpt.keepWhole(whole);
    if (bytes) this.#holdFor(bytes);
    const code = hasFailed ? this.#lastErrorCode(trace.excerpt.tail) : null;
    const failure = hasFailed ? failureInStream(code) : null;
    if (failure) this.#notes.failed(failure);
    client.end(hasFailed ? 'error' : 'ok', code, bytes);
    return failure;
  }

  abort({ error, event }: Extract<Step, { kind: 'break' }>): MaybePromise<void> {
    const { translation } = this.#options;
    this.#notes.failed('stream-broken', error.message);
    return this.#abort(error, translation ? translation.errorEvent(error.toBody().error) : event);
  }

  #abort(error: GatewayError, event: MaybePromise<string | null>): MaybePromise<void> {
    const { client } = this.#options;
    if (!(event instanceof Promise)) return client.abort(error, event);
    // The thread that could tell it may have ended.
    return event.catch(() => null).then((told) => client.abort(error, told));
  }

  /** Ends the response for a reason of Sluice's own. */
  cutOff(error: GatewayError, reader: ResponseReader | undefined): MaybePromise<void> {
    const { translation } = this.#options;
    const event = translation ? translation.errorEvent(error.toBody().error) : (reader?.errorEvent?.(error) ?? null);
    return this.#abort(error, event);
  }

  /**
   * Ends the response after an exception: by an error event if the answer is translated, otherwise by closing the
   * connection. `problem` completes the sentence "Provider … ".
   */
  abandon(problem: string): MaybePromise<void> {
    const error = damageOf(this.#options.target, problem);
    this.#notes.failed('stream-broken', error.message);
    return this.#abort(error, this.#lastEvent(error));
  }

  #lastEvent(error: GatewayError): MaybePromise<string | null> {
    try {
      return this.#options.translation?.errorEvent(error.toBody().error) ?? null;
    } catch {
      // The translation may be what threw the exception, which has been reported.
      return null;
    }
  }

  #sendHead(status: number, headers: ResponseHeaders): void {
    const { client, target, number, translation, losses } = this.#options;
    const answerer = { provider: target.provider.id, attempts: number };
    if (translation)
      client.begin(status, translation.headersFor(headers), { ...answerer, headers: translation.lossHeaders });
    else if (losses.length > 0) client.begin(status, headers, { ...answerer, headers: lossHeaders(losses) });
    else client.begin(status, headers, answerer);
  }

  /** Delays output until whatever the client can refer to afterwards is stored. */
  #holdFor(bytes: Buffer): void {
    const { client, translation } = this.#options;
    const storing = this.#observer?.take(bytes) ?? translation?.takeStoring();
    if (storing) client.holdUntil(storing);
  }

  #send(bytes: Buffer): void {
    this.#holdFor(bytes);
    this.#options.client.write(bytes, this.#source);
  }

  /** Null if the upstream reports no code. */
  #lastErrorCode(end: Buffer): string | null {
    const code = errorNameIn(end.toString('utf8'), this.#options.facts.route.wire.errorName);
    return code === null ? null : this.#notes.redacted(code);
  }
}

/** A sentence that another one ends. */
function withoutStop(sentence: string): string {
  return sentence.endsWith('.') ? sentence.slice(0, -1) : sentence;
}
