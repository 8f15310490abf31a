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
import { type KnownSize, type ToldError, tellError } from '../core/errors/verdict.ts';
import type { UpstreamError } from '../core/upstream-error.ts';
import type { ClientTranslation, UpstreamTranslation } from '../neutral/answers/wire-translation.ts';
import type { Conversation, UpstreamWireName, WireName } from '../neutral/conversation.ts';
import { parseLosslessJson, refuseTooDeep } from '../neutral/json-text.ts';
import { type Loss, Losses } from '../neutral/losses.ts';
import { refuseLostChoice, type Target } from '../neutral/requests/rendering.ts';
import { TranslatedRequest } from './translated-request.ts';
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
