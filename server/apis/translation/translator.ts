/**
 * Translates between two wires through the neutral conversation. Pure: depends on no clock, random numbers or
 * configuration. Does not run if client and upstream speak the same wire.
 *
 *     const translator = createTranslator('anthropic-messages', 'openai-chat');
 *     const asked = translator.read(body);                 // once per request
 *     const request = translator.request(asked, target);   // once per attempt: body and losses
 *     request.whole(upstreamBody, moment)                  // or
 *     request.events(moment).push(event)                   // for each event of the upstream's stream
 */
import { GatewayError } from '../../contract/errors.ts';
import { isObject } from '../../contract/is-object.ts';
import type { LossNote } from '../../contract/loss-codes.ts';
import { type KnownSize, type ToldError, tellError } from '../core/errors/verdict.ts';
import type { UpstreamError } from '../core/upstream-error.ts';
import { mediaTokens } from '../core/usage/prompt-estimate.ts';
import { AnswerFold, eventsOfWhole } from '../neutral/answers/answer-fold.ts';
import {
  type AnswerContext,
  type ClientTranslation,
  malformedCall,
  type ResponseIdentity,
  type UpstreamTranslation,
} from '../neutral/answers/wire-translation.ts';
import type { Conversation, Part, UpstreamWireName, WireName } from '../neutral/conversation.ts';
import { isTooDeep, parseLosslessJson, refuseTooDeep, writeJson } from '../neutral/json-text.ts';
import { type Loss, Losses, noteLosses } from '../neutral/losses.ts';
import type { AnswerError, AnswerEvent } from '../neutral/neutral-answer.ts';
import { type RenderedRequest, refuseLostChoice, type Target } from '../neutral/requests/rendering.ts';
import { EventsForClient } from './events-for-client.ts';
import { type KeptReasoning, ReasoningCollector } from './kept-reasoning.ts';
import { SealOrder, TranslatedEvents } from './translated-events.ts';
import { upstreamTranslations, wireTranslations } from './translation-registry.ts';

/** A client's request, parsed. */
interface ParsedConversation {
  conversation: Conversation;
  /** Losses that occur with any upstream API. */
  losses: readonly Loss[];
}

export interface NamedInUrl {
  model: string;
  stream: boolean;
}

type Completion = (conversation: Conversation) => Conversation;

/** Null if both wires are the same, so that bytes are forwarded unchanged. */
export function createTranslator(client: WireName, upstream: UpstreamWireName): Translator | null {
  return client === upstream ? null : createTranslatorBetween(client, upstream);
}

/** Like `createTranslator`, but also for two equal wires: a misplaced body does not have its wire's format. */
export function createTranslatorBetween(client: WireName, upstream: UpstreamWireName): Translator {
  return new Translator(wireTranslations[client], upstreamTranslations[upstream]);
}

export class Translator {
  readonly #client: ClientTranslation;
  readonly #upstream: UpstreamTranslation;

  constructor(client: ClientTranslation, upstream: UpstreamTranslation) {
    this.#client = client;
    this.#upstream = upstream;
  }

  /**
   * @param fromUrl fields that Gemini's API has in the URL and the other APIs in the body
   * @throws GatewayError `malformed_json`, or `invalid_value` that names the field
   */
  read(body: Buffer, fromUrl?: NamedInUrl): ParsedConversation {
    const value = parseLosslessJson(body.toString());
    if (value === undefined) throw new GatewayError('malformed_json', 'The body is not valid JSON.');
    refuseTooDeep(value);
    const losses = new Losses();
    const conversation = this.#client.parseRequest(
      fromUrl && isObject(value) ? { ...value, ...fromUrl } : value,
      losses,
    );
    refuseLostChoice(conversation, losses);
    return { conversation, losses: losses.list };
  }

  /**
   * Reads the request once, and returns a function that renders it for each target.
   * @param complete adds content that the client could not send
   * @param ofHeaders losses of the request's headers
   */
  open(
    body: Buffer,
    fromUrl?: NamedInUrl,
    complete: Completion = (conversation) => conversation,
    ofHeaders: readonly Loss[] = [],
  ): (target: Target) => TranslatedRequest {
    const { conversation, losses } = this.read(body, fromUrl);
    const parsed = { conversation: complete(conversation), losses: [...ofHeaders, ...losses] };
    return (target) => this.request(parsed, target);
  }

  /** @throws GatewayError `invalid_value` that names a missing field which the upstream requires */
  request({ conversation, losses: requestLosses }: ParsedConversation, target: Target): TranslatedRequest {
    const losses = new Losses();
    const rendered = this.#upstream.renderRequest(conversation, target, losses);
    const all = [...requestLosses, ...losses.list];
    return new TranslatedRequest([this.#client, this.#upstream], { conversation, target, rendered, losses: all });
  }

  error(failed: FailedCall, known?: KnownSize): TranslatedError {
    return translatedError(this.#client, failed, known);
  }
}

/** An upstream's refusal. */
export interface FailedCall {
  status: number;
  /** Null if the body has no known form. */
  error: UpstreamError | null;
  isPage?: boolean;
}

export interface TranslatedError {
  status: number;
  body: Buffer;
  error: ToldError;
}

/** An upstream's error in the format of the client's API. */
export function translatedError(
  client: Pick<ClientTranslation, 'renderError'>,
  failed: FailedCall,
  known?: KnownSize,
): TranslatedError {
  const error = tellError(failed, known);
  const { status, body } = client.renderError(error);
  return { status, body: Buffer.from(body), error };
}

export type WholeAnswer =
  | {
      ok: true;
      body: Buffer;
      /** Parts of the answer that the client's API cannot express. */
      losses: readonly Loss[];
      /** Reasoning that must be returned with the answer's calls; null if there is none. */
      reasoning: KeptReasoning | null;
    }
  /** `isMalformedCall`: it is nothing but a call that its provider could not read. */
  | { ok: false; error: AnswerError; isMalformedCall?: true };

interface RequestParts {
  conversation: Conversation;
  target: Target;
  rendered: RenderedRequest;
  losses: readonly Loss[];
}

/** Inputs of an answer's translation that are not in its bytes. */
export interface AnswerInputs {
  /** Seconds since 1970. */
  createdAt: number;
  /** An id for an answer that has none: the value of this response header of the upstream's, or a new one. */
  answerId?(header: string | undefined): string;
  /** Absent unless the client uses Responses. */
  identity?: ResponseIdentity | undefined;
}

/** One request in the format of an upstream's API, with the data needed to read its answer. */
export class TranslatedRequest {
  /** The body for the upstream. */
  readonly body: Buffer;
  /** Losses of the request, in the client's notation. */
  readonly losses: readonly Loss[];
  readonly #request: RequestParts;
  readonly #client: ClientTranslation;
  readonly #upstream: UpstreamTranslation;

  constructor([client, upstream]: [ClientTranslation, UpstreamTranslation], request: RequestParts) {
    this.body = Buffer.from(writeJson(request.rendered.body));
    this.losses = request.losses;
    this.#request = request;
    this.#client = client;
    this.#upstream = upstream;
  }

  /** An estimate of what the conversation has. */
  get inputTokens(): number {
    return estimateInputTokens(this.#request.conversation);
  }

  /** Translates a whole answer for a client that expects one. Null if it is not an answer of the upstream's API. */
  whole(body: Buffer, inputs: AnswerInputs): WholeAnswer | null {
    const events = this.#parse(body);
    if (events === null) return null;
    const context = this.#context(inputs);
    const view = new EventsForClient(context);
    const fold = new AnswerFold();
    const collector = new ReasoningCollector();
    const order = new SealOrder(context.conversation.client, (seal) => fold.sealText(seal));
    for (const event of events.flatMap((each) => view.push(each))) {
      collector.take(event);
      for (const placed of order.take(event)) fold.take(placed);
    }
    if (order.hasLost) context.losses.dropped('thought_signature', 'provider-item');
    if (fold.error) {
      const isMalformedCall = fold.error === malformedCall && fold.answer.parts.length === 0;
      return { ok: false, error: fold.error, ...(isMalformedCall && { isMalformedCall }) };
    }
    const rendered = this.#client.renderAnswer(fold.answer, context);
    const translated = Buffer.from(writeJson(rendered));
    return { ok: true, body: translated, losses: context.losses.list, reasoning: collector.kept };
  }

  /** Converts the upstream's whole answer for a client that waits for a stream (nyroway/nyro#182). */
  wholeAsEvents(body: Buffer, inputs: AnswerInputs, events = this.events(inputs)): Buffer | null {
    const parsed = this.#parse(body);
    return parsed && Buffer.concat(parsed.map((event) => events.translate(event)));
  }

  events(inputs: AnswerInputs): TranslatedEvents {
    const context = this.#context(inputs);
    const turns = this.#request.conversation.turns.length;
    return new TranslatedEvents(this.#upstream.eventParser(turns), this.#client.eventRenderer(context), context);
  }

  #parse(body: Buffer): AnswerEvent[] | null {
    const answer = parseLosslessJson(body.toString());
    return isTooDeep(answer) ? null : eventsOfWhole(this.#upstream, answer, this.#request.conversation.turns.length);
  }

  #context({ createdAt, answerId, identity }: AnswerInputs): AnswerContext {
    const { conversation, target, rendered } = this.#request;
    const { names, answerTool } = rendered;
    return {
      conversation,
      names,
      answerTool,
      origin: target.origin,
      get estimatedInputTokens() {
        return estimateInputTokens(conversation);
      },
      createdAt,
      answerId: answerId?.(this.#upstream.answerIdHeader) ?? '',
      identity,
      losses: new Losses(),
    };
  }
}

/** Code has about 3 bytes per token, other text 4; tokenizers differ by a third. */
const bytesPerToken = 3;
const tokensPerTurn = 5;
const tokensPerTool = 20;
/** Tokens that a service adds to a request with tools. */
const tokensForTools = 350;

/**
 * Estimates the number of tokens of a conversation, too high rather than too low: for an answer's first event, which
 * reports them before the upstream does, and for `count_tokens` with an upstream that cannot count.
 */
export function estimateInputTokens({ instructions, turns, tools }: Conversation): number {
  let tokens = tools.length === 0 ? 0 : tokensForTools;
  for (const { text } of instructions) tokens += tokensOf(text);
  for (const { parts } of turns) tokens += parts.reduce((sum, part) => sum + tokensOfPart(part), tokensPerTurn);
  for (const { name, description, schema } of tools) {
    tokens +=
      tokensPerTool +
      tokensOf(name) +
      tokensOf(description ?? '') +
      tokensOf(schema === undefined ? '' : writeJson(schema));
  }
  return Math.max(1, Math.ceil(tokens));
}

function tokensOfPart(part: Part): number {
  switch (part.type) {
    case 'text':
    case 'refusal':
    case 'thinking':
      return tokensOf(part.text);
    case 'call':
      return tokensPerTool + tokensOf(part.name) + tokensOf(part.arguments);
    case 'result':
      return part.parts.reduce((sum, each) => sum + tokensOfPart(each), tokensPerTool);
    case 'media':
      if (part.source.type === 'text') return tokensOf(part.source.text);
      return mediaTokens(part.kind, part.source.type === 'base64' ? part.source.data.length : 0, part.detail);
    default:
      return 0;
  }
}

function tokensOf(text: string): number {
  return Buffer.byteLength(text) / bytesPerToken;
}

/**
 * Estimates the number of tokens of a request, too high rather than too low.
 * @throws GatewayError `malformed_json`, or `invalid_value` that names the field
 */
export function estimateRequestTokens(wire: WireName, body: Buffer): number {
  return estimateInputTokens(wireTranslations[wire].parseRequest(countedRequest(body), new Losses()));
}

/**
 * The request whose tokens are counted. The body has no output limit, because no answer is requested. Gemini's body
 * names no model, and may contain the request in a nested member.
 * @throws GatewayError `malformed_json`, or `invalid_value` for a body that is nested too deeply
 */
export function countedRequest(body: Buffer): Record<string, unknown> {
  const value = parseLosslessJson(body.toString());
  if (!isObject(value)) throw new GatewayError('malformed_json', 'The body is no JSON object.');
  refuseTooDeep(value);
  const nested = value.generateContentRequest ?? value.generate_content_request;
  return { max_tokens: 1, model: '', ...(isObject(nested) ? nested : value) };
}

interface PossibleLosses {
  dropped: LossNote[];
  emulated: LossNote[];
}

/** Losses of request fields, for a model given by its upstream name. Losses of messages depend on their content. */
export function possibleLosses(client: WireName, upstream: UpstreamWireName, model: string): PossibleLosses {
  const translator = createTranslator(client, upstream);
  if (!translator) return { dropped: [], emulated: [] };
  try {
    const parsed = translator.read(Buffer.from(JSON.stringify(wireTranslations[client].client.specimen)), {
      model,
      stream: false,
    });
    const { losses } = translator.request(parsed, { model, origin: { provider: '', model, account: '' } });
    return { dropped: noteLosses(losses, 'dropped'), emulated: noteLosses(losses, 'emulated') };
  } catch (error) {
    if (error instanceof GatewayError) return { dropped: [], emulated: [] };
    throw error;
  }
}
