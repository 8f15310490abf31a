/** Translates one upstream's answer for a client of another API: a whole answer, a stream event by event, or an error. */

import { randomUUID } from 'node:crypto';
import type { Api, Route } from '../../apis/core/api.ts';
import { framingOf } from '../../apis/core/sse-framing.ts';
import type { Framing, Repacking, StreamFormat } from '../../apis/core/stream-format.ts';
import { countValues } from '../../apis/json/json-nodes.ts';
import { malformedCall, type ResponseIdentity } from '../../apis/neutral/answers/wire-translation.ts';
import { writeJson } from '../../apis/neutral/json-text.ts';
import { type Loss, lossHeaders } from '../../apis/neutral/losses.ts';
import type { TranslatedCount } from '../../apis/translation/count-translator.ts';
import {
  type RenderedVectors,
  TranslatedEmbeddings,
  type WantedVectors,
} from '../../apis/translation/embeddings-translator.ts';
import type { KeptReasoning } from '../../apis/translation/kept-reasoning.ts';
import {
  type AnswerInputs,
  TranslatedRequest,
  type Translator,
  type WholeAnswer,
} from '../../apis/translation/translator.ts';
import { type ErrorBody, GatewayError } from '../../contract/errors.ts';
import type { MaybePromise } from '../../ground/promises.ts';
import type { FailureResponse } from '../../routing/attempt-result.ts';
import type { ResponseHeaders } from '../../transport/transport.ts';
import type { ParsedSize } from '../request/outgoing-call.ts';
import { momentOf, type StreamApart, TranslatedApart } from './request-apart.ts';
import { type AnswerMoment, asBuffer } from './thread-orders.ts';
import { isHeavyAnswer, TranslatedStream, tooLarge, WeighedStream } from './translated-stream.ts';

export interface AnswerOptions {
  request: TranslatedRequest | TranslatedEmbeddings | TranslatedCount | TranslatedApart;
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
  /** The same for an answer that takes long to translate; absent if it is translated here nevertheless. */
  apart?: () => Promise<TranslatedApart>;
  /** Renders the vectors of an answer that has many. */
  vectorsApart(answer: Buffer, wanted: WantedVectors): Promise<RenderedVectors | null>;
  /** The number of values in the request. */
  requestValues: number;
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
  #stream: TranslatedStream | undefined;
  /** `#stream`, as long as another thread can go on with it. */
  #weighed: WeighedStream | undefined;
  /** In place of `#stream`, for an answer that is translated in another thread. */
  #apart: StreamApart | undefined;
  #wholeLosses: readonly Loss[] = [];
  /** In bytes; null for a stream. */
  #wholeLength: number | null = null;
  #isKept = false;
  #isMalformedCall = false;
  #storing: Promise<void> | undefined;
  /** Null if the client's stream consists of server-sent events. */
  #repacking: Repacking | null;
  /** The translation that began the client's stream; this one itself, unless it continues another. */
  #first: AnswerTranslation = this;
  #newId: string | undefined;

  constructor(options: AnswerOptions) {
    this.#options = options;
    this.#framing = framingOf(options.upstream);
    this.#repacking = options.stream?.repack?.() ?? null;
    this.#inputs = {
      createdAt: Math.floor(Date.now() / 1000),
      answerId: (header) => this.#idIn(header) ?? this.#ownId,
      identity: options.identity,
    };
  }

  /** Takes the upstream's headers, before its bytes. */
  received(headers: ResponseHeaders): void {
    this.#headers = headers;
  }

  /** For an answer to which the upstream gives no id. */
  get #ownId(): string {
    this.#newId ??= randomUUID();
    return this.#newId;
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
    this.#open().events.continue(brokenTranslation.#open().events);
    // What the client has is not in the pieces of this stream.
    this.#weighed = undefined;
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
    const ofAnswer = this.#apart?.state.losses ?? this.#stream?.events.losses ?? this.#wholeLosses;
    const { losses } = this.#options.request;
    return ofAnswer.length === 0 ? losses : [...losses, ...ofAnswer];
  }

  /**
   * Translates a piece of a stream, which may begin and end within an event. Returns an empty buffer if nothing can be sent yet,
   * and a promise if another thread translates it; then nothing else may be asked before that has settled.
   */
  push(bytes: Buffer): MaybePromise<Buffer> {
    const apart = this.#streamApart();
    if (apart) return apart.push(bytes).then((translated) => this.#pushed(translated));
    const stream = this.#open();
    const translated = (this.#weighed ?? stream).push(bytes);
    if (translated) return this.#pushed(translated);
    return this.#moved().then(async (moved) => this.#pushed(await moved.push(bytes)));
  }

  /** The stream goes on in another thread, which takes what came so far. */
  async #moved(): Promise<StreamApart> {
    const pieces = this.#weighed?.takePieces() ?? [];
    const moved = this.#streamOf(await this.#requestApart());
    await moved.goOn(pieces);
    this.#apart = moved;
    return moved;
  }

  async #requestApart(): Promise<TranslatedApart> {
    const { request, apart } = this.#options;
    const another = request instanceof TranslatedApart ? request : await apart?.();
    if (!another) throw new Error('unreachable: nothing is weighed that must stay here');
    return another;
  }

  #streamOf(request: TranslatedApart): StreamApart {
    return request.stream(() => this.#moment(), this.#options.keep !== undefined);
  }

  #pushed(translated: Buffer): Buffer {
    this.#keepWhole();
    return this.#repacking ? this.#repacking.push(translated) : translated;
  }

  /** Called when the upstream's stream is complete. Returns the end of the client's stream. */
  end(): MaybePromise<Buffer> {
    const apart = this.#streamApart();
    if (apart) return apart.end().then((rest) => this.#ended(rest));
    const stream = this.#open();
    const rest = (this.#weighed ?? stream).end();
    return rest ? this.#ended(rest) : this.#moved().then(async (moved) => this.#ended(await moved.end()));
  }

  #ended(rest: Buffer): Buffer {
    this.#keepWhole();
    return this.isDifferent ? rest : this.#repacked(rest);
  }

  /** The error that ended the client's stream; null if the stream is complete. */
  get failure(): string | null {
    return this.#apart ? this.#apart.state.failure : (this.#stream?.events.failure?.message ?? null);
  }

  /** Translates a whole, decompressed answer into the form that the client expects. Returns a reason if it cannot be used. */
  whole(bytes: Buffer): MaybePromise<Buffer | string> {
    const { request, stream } = this.#options;
    if (request instanceof TranslatedApart || this.#isForAnotherThread(bytes)) return this.#wholeApart(bytes);
    if (request instanceof TranslatedEmbeddings && isHeavyAnswer(bytes, 0)) return this.#vectorsApart(request, bytes);
    if (!this.#fits(bytes)) return tooLarge.message;
    if (stream && request instanceof TranslatedRequest) {
      const { events } = this.#open();
      return this.#asEvents(request.wholeAsEvents(bytes, this.#inputs, events), events.isMalformedCall);
    }
    return this.#settled(settledHere(request.whole(bytes, this.#inputs)));
  }

  #isForAnotherThread(bytes: Buffer): boolean {
    const { apart, requestValues } = this.#options;
    return apart !== undefined && !this.isRest && isHeavyAnswer(bytes, requestValues);
  }

  async #wholeApart(bytes: Buffer): Promise<Buffer | string> {
    try {
      const request = await this.#requestApart();
      if (!this.#options.stream) return this.#settled(await request.whole(bytes, this.#moment()));
      const apart = this.#streamOf(request);
      this.#apart = apart;
      const events = await apart.pushWhole(bytes);
      if (apart.state.failure === tooLarge.message) return tooLarge.message;
      return this.#asEvents(events, apart.state.isMalformedCall);
    } catch (thrown) {
      return reasonIn(thrown);
    }
  }

  async #vectorsApart(request: TranslatedEmbeddings, bytes: Buffer): Promise<Buffer | string> {
    try {
      const vectors = await this.#options.vectorsApart(bytes, request.wanted);
      return this.#settled(settledHere(request.wholeOf(vectors)));
    } catch (thrown) {
      return reasonIn(thrown);
    }
  }

  #asEvents(events: Buffer | null, isMalformed: boolean): Buffer | string {
    this.#isMalformedCall = isMalformed;
    if (isMalformed) return malformedCall.message;
    this.#keepWhole();
    return events ? this.#repacked(events) : noContent;
  }

  #settled(whole: SettledAnswer | null): Buffer | string {
    if (whole === null) return noContent;
    if (!whole.ok) {
      this.#isMalformedCall = whole.isMalformedCall ?? false;
      return whole.message;
    }
    this.#wholeLosses = whole.losses;
    const body = asBuffer(whole.body);
    this.#wholeLength = body.length;
    const { keep, keepReasoning } = this.#options;
    if (keep) this.#noteStoring(keep(body.toString()));
    if (whole.reasoning) keepReasoning(whole.reasoning);
    return body;
  }

  /** The whole answer was nothing but a call that its provider could not read. */
  get isMalformedCall(): boolean {
    return this.#isMalformedCall;
  }

  /** Stores the response before its last event is sent, so that the client can continue from it at once. */
  #keepWhole(): void {
    const { isOver, whole, reasoning } = this.#apart?.state ?? this.#open().events;
    if (!isOver || this.#isKept) return;
    this.#isKept = true;
    const { keep, keepReasoning } = this.#first.#options;
    if (whole && keep) this.#noteStoring(keep(typeof whole === 'string' ? whole : writeJson(whole)));
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
  errorEvent(error: ErrorBody): MaybePromise<string> {
    const apart = this.#streamApart();
    if (apart) return apart.state.isOver ? '' : apart.fail(error).then((event) => this.#repacked(event).toString());
    const { events } = this.#open();
    return events.isOver ? '' : this.#repacked(events.fail(error)).toString();
  }

  /** The response for the client in case no other attempt succeeds. */
  failureResponse(failureResponse: FailureResponse): FailureResponse {
    if (failureResponse.kind === 'error') return failureResponse;
    const { translator, api, requestId, request, contextTokens } = this.#options;
    const known =
      'inputTokens' in request && request.inputTokens !== undefined
        ? { contextTokens, inputTokens: request.inputTokens }
        : undefined;
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

  #open(): TranslatedStream {
    const { request } = this.#options;
    if (!(request instanceof TranslatedRequest)) throw new Error('unreachable: only conversations are streamed');
    this.#stream ??= this.#begin(request);
    return this.#stream;
  }

  #begin(request: TranslatedRequest): TranslatedStream {
    const { apart, requestValues } = this.#options;
    const fits = (bytes: Buffer) => this.#fits(bytes);
    const options = { request, inputs: this.#inputs, framing: this.#framing, fits };
    if (!apart) return new TranslatedStream(options);
    this.#weighed = new WeighedStream({ ...options, requestValues });
    return this.#weighed.stream;
  }

  /** Null if the answer is translated in this thread. */
  #streamApart(): StreamApart | null {
    const { request } = this.#options;
    if (request instanceof TranslatedApart) this.#apart ??= this.#streamOf(request);
    return this.#apart ?? null;
  }

  #moment(): AnswerMoment {
    const { createdAt } = this.#inputs;
    return momentOf(this.#headers, { createdAt, newId: this.#ownId, identity: this.#options.identity });
  }

  #fits(bytes: Buffer): boolean {
    if (bytes.length < uncountedBytes) return true;
    return this.#options.mayParse({ bytes: bytes.length, values: countValues(bytes) });
  }
}

/** As a `WholeAnswer`, of this thread or of another one. */
type SettledAnswer =
  | { ok: true; body: Uint8Array; losses: readonly Loss[]; reasoning: KeptReasoning | null }
  | { ok: false; message: string; isMalformedCall?: boolean };

/** Why another thread could not translate the answer. */
function reasonIn(thrown: unknown): string {
  if (thrown instanceof GatewayError) return thrown.message;
  throw thrown;
}

function settledHere(whole: WholeAnswer | null): SettledAnswer | null {
  return whole && !whole.ok ? { ...whole, message: whole.error.message } : whole;
}

/** Shorter answers and events cannot exhaust the heap, because one is translated after the other. */
const uncountedBytes = 256 * 1024;

const noContent = 'It has no content.';
