/**
 * Translates a request whose client speaks another API than its targets. The request is parsed once and rendered for each
 * target that is asked; the target's answer is translated back by an `AnswerTranslation`.
 */
import { pattern } from '../../bounded-pattern.ts';
import type { Target } from '../../routing/snapshot.ts';
import { refusalOf } from '../../translate/tell-losses.ts';
import type { TranslatedRequest } from '../../translate/translated-request.ts';
import { type AskedConversation, type Translator, translatorFor } from '../../translate/translator.ts';
import { isWireName } from '../../translate/wire-translations.ts';
import type { Registry } from '../../wire/registry.ts';
import type { Route } from '../../wire/route.ts';
import type { OutgoingCall } from '../outgoing-request.ts';
import type { PreparedBody } from '../request-body.ts';
import { AnswerTranslation } from './answer-translation.ts';

/** What one target is sent, and how its answer is read. */
export interface PreparedRequest {
  call: OutgoingCall;
  sendable: PreparedBody;
  /** Null where the client speaks the upstream's API, so that bytes pass as they are. */
  translation: AnswerTranslation | null;
}

/** The target of one attempt. Reasoning that a model returned is only valid for the same provider, model and account. */
interface Addressee {
  target: Target;
  credentialId: string | null;
  /** The client's name for the model. */
  model: string;
  /** The most that the model can write; undefined if unknown. */
  maxOutputTokens: number | undefined;
}

interface Wanted {
  requestId: string;
  /** The client refuses translations that drop or emulate anything. */
  refusesLosses: boolean;
}

export class RequestTranslation {
  readonly #call: OutgoingCall;
  readonly #wanted: Wanted;
  readonly #translator: Translator;
  readonly #asked: AskedConversation;
  readonly #upstreamCall: OutgoingCall;

  /** @throws GatewayError `malformed_json` or `invalid_value` if the body is not a request of the client's API */
  constructor(call: OutgoingCall, { route, translator }: Passage, wanted: Wanted) {
    this.#call = call;
    this.#wanted = wanted;
    this.#translator = translator;
    this.#asked = translator.read(call.body.captured ?? Buffer.alloc(0));
    this.#upstreamCall = {
      ...call,
      match: { ...call.match, route },
      headers: upstreamHeaders(call.headers, call.body.fields.stream),
      path: route.path,
      query: '',
    };
  }

  /** The route of the upstream's API. */
  get route(): Route {
    return this.#upstreamCall.match.route;
  }

  /** @throws GatewayError `invalid_value` if the request cannot be translated for this target */
  forTarget({ target, credentialId, model, maxOutputTokens }: Addressee): PreparedRequest {
    const { provider } = target;
    const origin = { provider: provider.id, model: target.model ?? model, account: credentialId ?? '' };
    const request = this.#translator.request(this.#asked, {
      model: origin.model,
      origin,
      maxOutputTokens,
      refusesStreamUsage: !provider.askUsage,
    });
    const refusal = this.#wanted.refusesLosses ? refusalOf(request.losses) : null;
    if (refusal) throw refusal;
    const { body } = request;
    this.#call.held.add(body.length);
    return {
      call: this.#upstreamCall,
      sendable: { length: body.length, open: () => body, usageAsked: false },
      translation: this.#answer(request),
    };
  }

  #answer(request: TranslatedRequest): AnswerTranslation {
    const { match, body } = this.#call;
    return new AnswerTranslation({
      request,
      translator: this.#translator,
      api: match.api,
      upstream: this.route,
      stream: body.fields.stream ? match.route.stream : null,
      requestId: this.#wanted.requestId,
    });
  }
}

/** How to ask a target that does not serve the client's wire. */
export interface Passage {
  /** The route of the upstream's API. */
  route: Route;
  translator: Translator;
}

/** Null if the target takes the request as it is, or the request cannot be translated. */
export function passageTo({ provider }: Target, { wire }: Route, registry: Registry): Passage | null {
  const { dialect } = provider;
  if (!isWireName(wire.name) || dialect.serves(wire.name)) return null;
  const upstream = dialect.conversationWire;
  const route = registry.conversationRoute(upstream);
  const translator = isWireName(upstream) ? translatorFor(wire.name, upstream) : null;
  return route && translator && { route, translator };
}

/** Headers of the client's API, such as its version, which mean nothing to another API. */
const foreignHeader = pattern(/^(?:anthropic-|x-claude-|x-app$)/);

function upstreamHeaders(headers: Readonly<Record<string, string>>, isStream: boolean): Record<string, string> {
  const passing: Record<string, string> = {};
  for (const name in headers) if (!foreignHeader.test(name)) passing[name] = headers[name] ?? '';
  passing.accept = isStream ? 'text/event-stream' : 'application/json';
  passing['content-type'] = 'application/json';
  return passing;
}
