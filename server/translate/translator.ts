/**
 * Translates between two wires through the neutral conversation. Pure: no clock, no chance, no configuration. Nothing of it
 * runs where client and upstream speak the same wire.
 *
 *     const translator = translatorFor('anthropic-messages', 'openai-chat');
 *     const asked = translator.read(body);                 // once a request
 *     const request = translator.request(asked, target);   // once an attempt: its body, what got lost
 *     request.whole(upstreamBody, moment)                  // or
 *     request.events(moment).push(event)                   // for each event of the upstream's stream
 */
import { GatewayError } from '../contract/errors.ts';
import { isObject } from '../contract/is-object.ts';
import { readErrorBody } from '../wire/error-body.ts';
import type { StreamEvent } from '../wire/sse-event.ts';
import { errorIn } from '../wire/upstream-error.ts';
import type { AnswerContext } from './answer-context.ts';
import { answerEvents } from './answer-events.ts';
import { answerForClient } from './answer-for-client.ts';
import { estimateInputTokens } from './estimate-input.ts';
import { EventsForClient } from './events-for-client.ts';
import { parseJson, writeJson } from './json-text.ts';
import { type Loss, Losses } from './losses.ts';
import type { Conversation, WireName } from './neutral.ts';
import type { Answer, AnswerError, AnswerEvent } from './neutral-answer.ts';
import { neutralError } from './neutral-error.ts';
import type { RenderedRequest, Target } from './rendering.ts';
import type { EventParser, EventRenderer, WireTranslation } from './wire-translation.ts';
import { wireTranslations } from './wire-translations.ts';

/** A client's request, parsed. */
export interface AskedConversation {
  conversation: Conversation;
  /** What no other API could take, whichever the upstream is. */
  losses: readonly Loss[];
}

export interface NamedInUrl {
  model: string;
  stream: boolean;
}

export type WholeAnswer = { ok: true; body: Buffer } | { ok: false; error: AnswerError };

/** Null where the two are the same: then bytes pass as they are. */
export function translatorFor(client: WireName, upstream: WireName): Translator | null {
  return client === upstream ? null : new Translator(wireTranslations[client], wireTranslations[upstream]);
}

export class Translator {
  readonly #client: WireTranslation;
  readonly #upstream: WireTranslation;

  constructor(client: WireTranslation, upstream: WireTranslation) {
    this.#client = client;
    this.#upstream = upstream;
  }

  /**
   * @param fromUrl what Gemini's API has in the URL; the other APIs have it in the body
   * @throws GatewayError `malformed_json`, or `invalid_value` that names the field
   */
  read(body: Buffer, fromUrl?: NamedInUrl): AskedConversation {
    const value = parseJson(body.toString());
    if (value === undefined) throw new GatewayError('malformed_json', 'The body is not valid JSON.');
    const losses = new Losses();
    const conversation = this.#client.parseRequest(
      fromUrl && isObject(value) ? { ...value, ...fromUrl } : value,
      losses,
    );
    return { conversation, losses: losses.list };
  }

  /** @throws GatewayError `invalid_value` that names the field which the upstream cannot do without */
  request({ conversation, losses: known }: AskedConversation, target: Target): TranslatedRequest {
    const losses = new Losses();
    const rendered = this.#upstream.renderRequest(conversation, target, losses);
    const told = [...known, ...losses.list];
    return new TranslatedRequest([this.#client, this.#upstream], { conversation, target, rendered, losses: told });
  }

  /** An upstream's error, as the client's API would tell it. */
  error(status: number, body: Buffer): TranslatedError {
    const error = neutralError(errorIn(readErrorBody(body)), status);
    const rendered = this.#client.renderError(error, status);
    return { status: rendered.status, body: Buffer.from(rendered.body), error };
  }
}

export interface TranslatedError {
  status: number;
  body: Buffer;
  error: AnswerError;
}

interface Asked {
  conversation: Conversation;
  target: Target;
  rendered: RenderedRequest;
  losses: readonly Loss[];
}

/** What an answer's translation is told that no bytes tell. */
export interface Moment {
  /** Seconds since 1970. */
  createdAt: number;
}

export class TranslatedRequest {
  /** For the upstream. */
  readonly body: Buffer;
  /** Of the request; each in the client's notation. */
  readonly losses: readonly Loss[];
  readonly #asked: Asked;
  readonly #client: WireTranslation;
  readonly #upstream: WireTranslation;

  constructor([client, upstream]: [WireTranslation, WireTranslation], asked: Asked) {
    this.body = Buffer.from(writeJson(asked.rendered.body));
    this.losses = asked.losses;
    this.#asked = asked;
    this.#client = client;
    this.#upstream = upstream;
  }

  /** The upstream's whole answer for a client that waits for one. Null for what is no answer of its API. */
  whole(body: Buffer, moment: Moment): WholeAnswer | null {
    const answer = this.#parse(body);
    if (answer === null) return null;
    const context = this.#context(moment);
    const result = answerForClient(answer, context);
    if (!result.ok) return result;
    return { ok: true, body: Buffer.from(writeJson(this.#client.renderAnswer(result.answer, context))) };
  }

  /** The upstream's whole answer for a client that waits for a stream, as some services answer. */
  wholeAsEvents(body: Buffer, moment: Moment): Buffer | null {
    const answer = this.#parse(body);
    if (answer === null) return null;
    const events = this.events(moment);
    return Buffer.concat(answerEvents(answer).map((event) => events.tell(event)));
  }

  events(moment: Moment): TranslatedEvents {
    const context = this.#context(moment);
    const turns = this.#asked.conversation.turns.length;
    return new TranslatedEvents(this.#upstream.eventParser(turns), this.#client.eventRenderer(context), context);
  }

  #parse(body: Buffer): Answer | null {
    return this.#upstream.parseAnswer(parseJson(body.toString()), this.#asked.conversation.turns.length);
  }

  #context({ createdAt }: Moment): AnswerContext {
    const { conversation, target, rendered } = this.#asked;
    const { names, answerTool } = rendered;
    const estimatedInputTokens = estimateInputTokens(conversation);
    return {
      conversation,
      names,
      answerTool,
      origin: target.origin,
      estimatedInputTokens,
      createdAt,
      losses: new Losses(),
    };
  }
}

/** One stream on its way to the client. */
export class TranslatedEvents {
  readonly #parser: EventParser;
  readonly #renderer: EventRenderer;
  readonly #view: EventsForClient;
  readonly #context: AnswerContext;
  #isOver = false;
  #failure: AnswerError | null = null;

  constructor(parser: EventParser, renderer: EventRenderer, context: AnswerContext) {
    this.#parser = parser;
    this.#renderer = renderer;
    this.#view = new EventsForClient(context);
    this.#context = context;
  }

  /** What an event of the upstream says, for the client; empty where it says nothing yet. */
  push(event: StreamEvent): Buffer {
    return this.#tellAll(this.#parser.push(event));
  }

  /** The upstream's connection has ended in good order. Whether the answer has, `isOver` tells after it. */
  end(): Buffer {
    return this.#tellAll(this.#parser.end());
  }

  /** The client's own error event, in the place of all that is missing. */
  fail(error: AnswerError): Buffer {
    this.#isOver = true;
    this.#failure = error;
    return Buffer.from(this.#renderer.fail(error));
  }

  tell(event: AnswerEvent): Buffer {
    return this.#tellAll([event]);
  }

  /** For a client whose stream is silent. */
  get ping(): Buffer {
    return Buffer.from(this.#renderer.ping);
  }

  /** The answer is complete, or has failed: nothing more is to come. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** What the client was told of in the place of what is missing; null where nothing is. */
  get failure(): AnswerError | null {
    return this.#failure;
  }

  /** What of the answer the client's API has no place for, as far as it has come. */
  get losses(): readonly Loss[] {
    return this.#context.losses.list;
  }

  #tellAll(events: readonly AnswerEvent[]): Buffer {
    let text = '';
    for (const each of events) {
      for (const event of this.#view.push(each)) {
        text += this.#renderer.push(event);
        this.#isOver ||= event.type === 'end' || event.type === 'error';
        if (event.type === 'error') this.#failure = event.error;
      }
    }
    return text === '' ? nothing : Buffer.from(text);
  }
}

const nothing = Buffer.alloc(0);
