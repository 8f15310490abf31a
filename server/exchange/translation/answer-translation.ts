/** One upstream's answer on its way to a client of another API: whole, event by event, or an error. */
import type { ErrorBody } from '../../contract/errors.ts';
import type { LastWord } from '../../routing/attempt-result.ts';
import type { TranslatedEmbeddings } from '../../translate/embeddings/embeddings-translator.ts';
import { lossHeaders } from '../../translate/tell-losses.ts';
import type { TranslatedEvents } from '../../translate/translated-events.ts';
import { TranslatedRequest } from '../../translate/translated-request.ts';
import type { Translator } from '../../translate/translator.ts';
import type { ResponseHeaders } from '../../transport/transport.ts';
import type { Api } from '../../wire/api.ts';
import type { EventGate, Framing } from '../../wire/framing.ts';
import type { Route } from '../../wire/route.ts';
import { framingOf } from '../../wire/sse-framing.ts';
import type { Repacking, StreamFormat } from '../../wire/stream-format.ts';
import { maxStreamedEventBytes } from '../readers/broken-off.ts';

interface Options {
  request: TranslatedRequest | TranslatedEmbeddings;
  translator: Pick<Translator, 'error'>;
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
  /** Null where the client's stream is one of server-sent events. */
  readonly #repacking: Repacking | null;
  /** What the bytes at hand have come to. */
  #told: Buffer[] = [];

  constructor(options: Options) {
    this.#options = options;
    this.#framing = framingOf(options.upstream);
    this.#repacking = options.stream?.repack?.() ?? null;
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
    return lossHeaders(this.#options.request.losses);
  }

  /** Some of a stream, for the client; empty where it says nothing yet. Events may be cut anywhere. */
  push(bytes: Buffer): Buffer {
    this.#open().gate.push(bytes);
    const told = this.#taken();
    return this.#repacking ? this.#repacking.push(told) : told;
  }

  /** The upstream's stream is complete. */
  end(): Buffer {
    const { events, gate } = this.#open();
    const rest = gate.takeRest();
    if (rest.length > 0) this.#translate(rest);
    this.#told.push(events.end());
    if (!events.isOver) this.#told.push(events.fail(incomplete));
    return this.#ended(this.#taken());
  }

  /** What the client was told in place of the rest; null where nothing is missing. */
  get failure(): string | null {
    return this.#stream?.events.failure?.message ?? null;
  }

  /** A whole answer, decompressed, in whichever form the client waits for it; else why it is of no use. */
  whole(bytes: Buffer): Buffer | string {
    const { request, stream } = this.#options;
    if (stream && request instanceof TranslatedRequest) {
      const events = request.wholeAsEvents(bytes, this.#moment);
      return events ? this.#ended(events) : saysNothing;
    }
    const whole = request.whole(bytes, this.#moment);
    if (whole === null) return saysNothing;
    return whole.ok ? whole.body : whole.error.message;
  }

  /** The event by which the client learns that its stream has broken off. */
  errorEvent(error: ErrorBody): string {
    const { events } = this.#open();
    return events.isOver ? '' : this.#ended(events.fail(error)).toString();
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

  /** With `events`, the last ones. */
  #ended(events: Buffer): Buffer {
    return this.#repacking ? Buffer.concat([this.#repacking.push(events), this.#repacking.end()]) : events;
  }

  #open(): { events: TranslatedEvents; gate: EventGate } {
    const { request } = this.#options;
    if (!(request instanceof TranslatedRequest)) throw new Error('unreachable: embeddings are not streamed');
    this.#stream ??= {
      events: request.events(this.#moment),
      gate: this.#framing.openGate(() => {}, {
        filter: (event) => this.#translate(event),
        maxHeldBytes: maxStreamedEventBytes,
      }),
    };
    return this.#stream;
  }

  #translate(bytes: Buffer): null {
    const event = this.#framing.saysNothing(bytes) ? null : this.#framing.readEvent(bytes);
    const told = event && this.#stream?.events.push(event);
    if (told && told.length > 0) this.#told.push(told);
    return null;
  }

  #taken(): Buffer {
    const [first = nothing, ...others] = this.#told;
    const told = others.length > 0 ? Buffer.concat(this.#told) : first;
    this.#told = [];
    return told;
  }
}

const nothing = Buffer.alloc(0);
const saysNothing = 'It says nothing.';

const incomplete = {
  message: 'The provider ended the stream before it was complete.',
  type: 'server_error',
  code: 'upstream_stream_broken',
};
