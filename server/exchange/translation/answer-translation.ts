/** Translates one upstream's answer for a client of another API: a whole answer, a stream event by event, or an error. */

import { randomUUID } from 'node:crypto';
import type { Api } from '../../apis/core/api.ts';
import type { EventGate, Framing } from '../../apis/core/framing.ts';
import type { Route } from '../../apis/core/route.ts';
import type { Repacking, StreamFormat } from '../../apis/core/stream-format.ts';
import { framingOf } from '../../apis/core/streams/sse-framing.ts';
import { countValues } from '../../apis/json/count-values.ts';
import { malformedCall, type ResponseIdentity } from '../../apis/neutral/answers/answer-context.ts';
import { writeJson } from '../../apis/neutral/json-text.ts';
import type { Loss } from '../../apis/neutral/losses.ts';
import type { TranslatedCount } from '../../apis/translation/count-translator.ts';
import type { TranslatedEmbeddings } from '../../apis/translation/embeddings-translator.ts';
import type { KeptReasoning } from '../../apis/translation/kept-reasoning.ts';
import { lossHeaders } from '../../apis/translation/report-losses.ts';
import type { TranslatedEvents } from '../../apis/translation/translated-events.ts';
import { type AnswerInputs, TranslatedRequest } from '../../apis/translation/translated-request.ts';
import type { Translator } from '../../apis/translation/translator.ts';
import type { ErrorBody } from '../../contract/errors.ts';
import type { MaybePromise } from '../../ground/maybe-promise.ts';
import type { FailureResponse } from '../../routing/attempt-result.ts';
import type { ResponseHeaders } from '../../transport/transport.ts';
import { maxStreamedEventBytes } from '../readers/broken-stream.ts';
import type { ParsedSize } from '../request/heap-share.ts';
import { TextFastPath } from './text-fast-path.ts';

export interface AnswerOptions {
  request: TranslatedRequest | TranslatedEmbeddings | TranslatedCount;
  translator: Pick<Translator, 'error'>;
  /** The client's API. */
  api: Api;
  /** The route of the upstream's API. */
  upstream: Route;
  /** The model's context, if it is known. */
  contextTokens?: number | undefined;
  /** Format of the client's stream; null if it expects a whole answer. */
  stream: StreamFormat | null;
  requestId: string;
  /** Whether the heap has room to parse this. */
  mayParse(size: ParsedSize): boolean;
  /** Absent unless the client speaks Responses. */
  identity?: ResponseIdentity;
  /** Stores the response, as JSON; absent if it must not be stored. Does not reject. */
  keep?(response: string): MaybePromise<void>;
  /** Stores reasoning that must be returned with the answer's calls, as far as the client does not bring it back. */
  keepReasoning(reasoning: KeptReasoning): void;
}

export class AnswerTranslation {
  readonly #options: AnswerOptions;
  readonly #framing: Framing;
  readonly #inputs: AnswerInputs;
  #headers: ResponseHeaders = {};
  #stream: { events: TranslatedEvents; gate: EventGate; fastPath: TextFastPath } | undefined;
  #wholeLosses: readonly Loss[] = [];
  /** In bytes; null for a stream. */
  #wholeLength: number | null = null;
  #isKept = false;
  #isMalformedCall = false;
  #storing: Promise<void> | undefined;
  /** Translated text that has not been taken yet. */
  #translated = '';
  /** Null if the client's stream consists of server-sent events. */
  #repacking: Repacking | null;
  /** The translation that began the client's stream; this one itself, unless it continues another. */
  #first: AnswerTranslation = this;

  constructor(options: AnswerOptions) {
    this.#options = options;
    this.#framing = framingOf(options.upstream);
    this.#repacking = options.stream?.repack?.() ?? null;
    this.#inputs = {
      createdAt: Math.floor(Date.now() / 1000),
      answerId: (header) => this.#idIn(header) ?? randomUUID(),
      identity: options.identity,
    };
  }

  /** Takes the upstream's headers, before its bytes. */
  received(headers: ResponseHeaders): void {
    this.#headers = headers;
  }

  #idIn(header: string | undefined): string | null {
    const id = header === undefined ? undefined : this.#headers[header];
    return typeof id === 'string' && id !== '' ? id : null;
  }

  get upstream(): Route {
    return this.#options.upstream;
  }

  /** Whether another attempt can continue the client's stream. */
  get isContinuable(): boolean {
    const events = this.#stream?.events;
    return events !== undefined && !events.isOver && events.textSoFar !== null;
  }

  /** Continues the client's stream of `brokenTranslation`. Call before the first bytes. */
  continue(brokenTranslation: AnswerTranslation): void {
    const { events } = brokenTranslation.#open();
    this.#open().events.continue(events);
    this.#repacking = brokenTranslation.#repacking;
    this.#first = brokenTranslation.#first;
  }

  /** The client has the beginning of the answer from another attempt. */
  get isRest(): boolean {
    return this.#first !== this;
  }

  /** The answer contradicts what the client has of another attempt. */
  get isDifferent(): boolean {
    return this.#stream?.events.isDifferent ?? false;
  }

  /** The client's response headers, derived from the upstream's. Of a whole answer call `whole` first. */
  headersFor(headers: ResponseHeaders): ResponseHeaders {
    const { api, stream, requestId } = this.#options;
    const type = stream ? stream.framing.contentType : 'application/json';
    const length = this.#wholeLength === null ? undefined : String(this.#wholeLength);
    const bodyHeaders = { 'content-type': type, 'content-length': length, 'content-encoding': undefined };
    return { ...headers, ...bodyHeaders, [api.requestIdHeader]: requestId };
  }

  /** Headers that tell the client what the translation changed or dropped. */
  get lossHeaders(): Record<string, string> {
    return lossHeaders(this.losses);
  }

  /** Losses of the request and of the answer received so far. */
  get losses(): readonly Loss[] {
    const ofAnswer = this.#stream?.events.losses ?? this.#wholeLosses;
    const { losses } = this.#options.request;
    return ofAnswer.length === 0 ? losses : [...losses, ...ofAnswer];
  }

  /** Translates a piece of a stream, which may begin and end within an event. Returns an empty buffer if nothing can be sent yet. */
  push(bytes: Buffer): Buffer {
    this.#open().gate.push(bytes);
    const translated = this.#takeTranslated();
    return this.#repacking ? this.#repacking.push(translated) : translated;
  }

  /** Called when the upstream's stream is complete. Returns the end of the client's stream. */
  end(): Buffer {
    const { events, gate } = this.#open();
    const rest = gate.takeRest();
    if (rest.length > 0) this.#translate(rest);
    this.#takeUsage();
    this.#translated += events.end().toString();
    this.#keepWhole(events);
    if (events.isDifferent) return nothing;
    if (!events.isOver) this.#translated += events.fail(incomplete).toString();
    return this.#repacked(this.#takeTranslated());
  }

  /** The error that ended the client's stream; null if the stream is complete. */
  get failure(): string | null {
    return this.#stream?.events.failure?.message ?? null;
  }

  /** Translates a whole, decompressed answer into the form that the client expects. Returns a reason if it cannot be used. */
  whole(bytes: Buffer): Buffer | string {
    const { request, stream } = this.#options;
    if (!this.#fits(bytes)) return tooLarge.message;
    if (stream && request instanceof TranslatedRequest) {
      const { events } = this.#open();
      const translated = request.wholeAsEvents(bytes, this.#inputs, events);
      this.#isMalformedCall = events.isMalformedCall;
      if (events.isMalformedCall) return malformedCall.message;
      this.#keepWhole(events);
      return translated ? this.#repacked(translated) : noContent;
    }
    const whole = request.whole(bytes, this.#inputs);
    if (whole === null) return noContent;
    if (!whole.ok) {
      this.#isMalformedCall = 'isMalformedCall' in whole;
      return whole.error.message;
    }
    this.#wholeLosses = whole.losses;
    this.#wholeLength = whole.body.length;
    this.#noteStoring(this.#options.keep?.(whole.body.toString()));
    if (whole.reasoning) this.#options.keepReasoning(whole.reasoning);
    return whole.body;
  }

  /** The whole answer was nothing but a call that its provider could not read. */
  get isMalformedCall(): boolean {
    return this.#isMalformedCall;
  }

  /** Stores the response before its last event is sent, so that the client can continue from it at once. */
  #keepWhole({ isOver, whole, reasoning }: TranslatedEvents): void {
    if (!isOver || this.#isKept) return;
    this.#isKept = true;
    const { keep, keepReasoning } = this.#first.#options;
    if (whole) this.#noteStoring(keep?.(writeJson(whole)));
    if (reasoning) keepReasoning(reasoning);
  }

  #noteStoring(storing: MaybePromise<void>): void {
    if (storing) this.#storing = storing;
  }

  /** A promise that must settle before the latest translation is sent; undefined if there is none. */
  takeStoring(): Promise<void> | undefined {
    const storing = this.#storing;
    this.#storing = undefined;
    return storing;
  }

  /** The event that reports an error at the end of the client's stream; empty if the stream has ended already. */
  errorEvent(error: ErrorBody): string {
    const { events } = this.#open();
    return events.isOver ? '' : this.#repacked(events.fail(error)).toString();
  }

  /** The response for the client in case no other attempt succeeds. */
  failureResponse(failureResponse: FailureResponse): FailureResponse {
    if (failureResponse.kind === 'error') return failureResponse;
    const { translator, api, requestId, request, contextTokens } = this.#options;
    const known =
      request instanceof TranslatedRequest ? { contextTokens, inputTokens: request.inputTokens } : undefined;
    const { status, body, error } = translator.error(failureResponse.answer, known);
    const headers = {
      ...failureResponse.answer.headers,
      'content-type': api.errorType,
      'content-length': String(body.length),
      'content-encoding': undefined,
      [api.requestIdHeader]: requestId,
    };
    const describedError = {
      message: error.message,
      type: error.type,
      code: error.code ?? '',
      param: null,
      retryAfterMs: failureResponse.answer.error?.retryAfterMs ?? null,
    };
    // An event of the upstream's stream means nothing to the client.
    const { event: _, ...answer } = failureResponse.answer;
    return { kind: 'answer', answer: { ...answer, status, headers, body, error: describedError } };
  }

  /** Returns the last events in the client's framing, with the end of the stream. */
  #repacked(events: Buffer): Buffer {
    return this.#repacking ? Buffer.concat([this.#repacking.push(events), this.#repacking.end()]) : events;
  }

  #open(): { events: TranslatedEvents; gate: EventGate; fastPath: TextFastPath } {
    const { request } = this.#options;
    if (!(request instanceof TranslatedRequest)) throw new Error('unreachable: embeddings are not streamed');
    if (this.#stream) return this.#stream;
    const events = request.events(this.#inputs);
    const fastPath = new TextFastPath(events);
    const filter = (event: Buffer) => this.#translate(event);
    const gate = this.#framing.openGate(() => {}, { filter, known: fastPath, maxHeldBytes: maxStreamedEventBytes });
    this.#stream = { events, gate, fastPath };
    return this.#stream;
  }

  #translate(bytes: Buffer): null {
    const { events, fastPath } = this.#open();
    if (!events.isOver && !this.#fits(bytes)) {
      this.#translated += fastPath.takeTranslated() + events.fail(tooLargeEvent).toString();
      return null;
    }
    const event = this.#framing.isKeepAlive(bytes) ? null : this.#framing.readEvent(bytes);
    if (event) {
      this.#takeUsage();
      this.#translated += fastPath.takeTranslated() + events.write(event);
      fastPath.learn(bytes);
    }
    if (events.isOver) this.#keepWhole(events);
    return null;
  }

  #fits(bytes: Buffer): boolean {
    if (bytes.length < uncountedBytes) return true;
    return this.#options.mayParse({ bytes: bytes.length, values: countValues(bytes) });
  }

  /** Reads the usage from events that were translated without being parsed. */
  #takeUsage(): void {
    const { events, fastPath } = this.#open();
    const counting = fastPath.takeCounting();
    const event = counting && this.#framing.readEvent(counting);
    if (event) events.takeUsage(event);
  }

  #takeTranslated(): Buffer {
    const translated = this.#translated + (this.#stream?.fastPath.takeTranslated() ?? '');
    this.#translated = '';
    return translated === '' ? nothing : Buffer.from(translated);
  }
}

/** Shorter answers and events cannot exhaust the heap, because one is translated after the other. */
const uncountedBytes = 256 * 1024;

const nothing = Buffer.alloc(0);
const noContent = 'It has no content.';

const tooLarge = {
  message: 'It is too large to be translated: its values do not fit in memory.',
  type: 'server_error',
  code: 'upstream_malformed',
};

const tooLargeEvent = { ...tooLarge, message: `The provider's answer cannot be used. ${tooLarge.message}` };

const incomplete = {
  message: 'The provider ended the stream before it was complete.',
  type: 'server_error',
  code: 'upstream_stream_broken',
};
