/** One upstream's answer on its way to a client of another API: whole, event by event, or an error. */
import type { ErrorBody } from '../../contract/errors.ts';
import type { LastWord } from '../../routing/attempt-result.ts';
import type { Loss } from '../../translate/losses.ts';
import { lossHeaders } from '../../translate/tell-losses.ts';
import type { TranslatedEvents } from '../../translate/translated-events.ts';
import type { TranslatedRequest } from '../../translate/translated-request.ts';
import type { Translator } from '../../translate/translator.ts';
import type { ResponseHeaders } from '../../transport/transport.ts';
import type { Api } from '../../wire/api.ts';
import type { EventGate, Framing } from '../../wire/framing.ts';
import type { Route } from '../../wire/route.ts';
import { framingOf } from '../../wire/sse-framing.ts';
import type { StreamFormat } from '../../wire/stream-format.ts';
import { maxStreamedEventBytes } from '../readers/broken-off.ts';

interface Options {
  request: TranslatedRequest;
  translator: Translator;
  /** The client's. */
  api: Api;
  /** Of the upstream's API. */
  upstream: Route;
  /** The client's, where it waits for one. */
  stream: StreamFormat | null;
  requestId: string;
}

export class AnswerTranslation {
  readonly #options: Options;
  readonly #framing: Framing;
  readonly #moment = { createdAt: Math.floor(Date.now() / 1000) };
  #stream: { events: TranslatedEvents; gate: EventGate } | undefined;
  #wholeLosses: readonly Loss[] = [];
  /** What the bytes at hand have come to. */
  #told = '';

  constructor(options: Options) {
    this.#options = options;
    this.#framing = framingOf(options.upstream);
  }

  get upstream(): Route {
    return this.#options.upstream;
  }

  /** The client's, for an answer of the upstream with these. */
  headersFor(headers: ResponseHeaders): ResponseHeaders {
    const { api, stream, requestId } = this.#options;
    const type = stream ? stream.framing.contentType : 'application/json';
    const described = { 'content-type': type, 'content-length': undefined, 'content-encoding': undefined };
    return { ...headers, ...described, [api.requestIdHeader]: requestId };
  }

  /** Of Sluice's own. */
  get lossHeaders(): Record<string, string> {
    return lossHeaders(this.losses);
  }

  /** Of the request, and of as much of the answer as has come. */
  get losses(): readonly Loss[] {
    const ofAnswer = this.#stream?.events.losses ?? this.#wholeLosses;
    const { losses } = this.#options.request;
    return ofAnswer.length === 0 ? losses : [...losses, ...ofAnswer];
  }

  /** Some of a stream, for the client; empty where it says nothing yet. Events may be cut anywhere. */
  push(bytes: Buffer): Buffer {
    this.#open().gate.push(bytes);
    return this.#taken();
  }

  /** The upstream's stream is complete. */
  end(): Buffer {
    const { events, gate } = this.#open();
    const rest = gate.takeRest();
    if (rest.length > 0) this.#translate(rest);
    this.#told += events.end().toString();
    if (!events.isOver) this.#told += events.fail(incomplete).toString();
    return this.#taken();
  }

  /** What the client was told in place of the rest; null where nothing is missing. */
  get failure(): string | null {
    return this.#stream?.events.failure?.message ?? null;
  }

  /** A whole answer, decompressed, in whichever form the client waits for it; else why it is of no use. */
  whole(bytes: Buffer): Buffer | string {
    const { request, stream } = this.#options;
    if (stream) return request.wholeAsEvents(bytes, this.#moment, this.#open().events) ?? saysNothing;
    const whole = request.whole(bytes, this.#moment);
    if (whole === null) return saysNothing;
    if (!whole.ok) return whole.error.message;
    this.#wholeLosses = whole.losses;
    return whole.body;
  }

  /** The event by which the client learns that its stream has broken off. */
  errorEvent(error: ErrorBody): string {
    const { events } = this.#open();
    return events.isOver ? '' : events.fail(error).toString();
  }

  /** What is told of a failure if nobody does better. */
  lastWord(word: LastWord): LastWord {
    if (word.kind === 'error') return word;
    const { translator, api, requestId } = this.#options;
    const { status, body, error } = translator.error(word.answer.status, word.answer.body);
    const headers = {
      ...word.answer.headers,
      'content-type': api.errorType,
      'content-length': String(body.length),
      'content-encoding': undefined,
      [api.requestIdHeader]: requestId,
    };
    const told = {
      ...error,
      code: error.code ?? '',
      param: null,
      retryAfterMs: word.answer.error?.retryAfterMs ?? null,
    };
    return { kind: 'answer', answer: { ...word.answer, status, headers, body, error: told } };
  }

  #open(): { events: TranslatedEvents; gate: EventGate } {
    this.#stream ??= {
      events: this.#options.request.events(this.#moment),
      gate: this.#framing.openGate(() => {}, {
        filter: (event) => this.#translate(event),
        maxHeldBytes: maxStreamedEventBytes,
      }),
    };
    return this.#stream;
  }

  #translate(bytes: Buffer): null {
    const event = this.#framing.saysNothing(bytes) ? null : this.#framing.readEvent(bytes);
    if (event) this.#told += this.#stream?.events.write(event) ?? '';
    return null;
  }

  #taken(): Buffer {
    const told = this.#told;
    this.#told = '';
    return told === '' ? nothing : Buffer.from(told);
  }
}

const nothing = Buffer.alloc(0);
const saysNothing = 'It says nothing.';

const incomplete = {
  message: 'The provider ended the stream before it was complete.',
  type: 'server_error',
  code: 'upstream_stream_broken',
};
