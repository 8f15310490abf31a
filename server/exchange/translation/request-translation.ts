/**
 * A request whose client speaks another API than some of its targets. Parsed once, and written anew for each target that is
 * asked; what comes of those goes through an `AnswerTranslation` of its own.
 */
import { pattern } from '../../bounded-pattern.ts';
import type { Target } from '../../routing/snapshot.ts';
import { upstreamWireOf } from '../../routing/upstream-wire.ts';
import { refusalOf } from '../../translate/tell-losses.ts';
import type { TranslatedRequest } from '../../translate/translated-request.ts';
import { type AskedConversation, type Translator, translatorFor } from '../../translate/translator.ts';
import { isWireName } from '../../translate/wire-translations.ts';
import type { Registry } from '../../wire/registry.ts';
import type { Route } from '../../wire/route.ts';
import type { OutgoingCall } from '../outgoing-request.ts';
import type { PreparedBody } from '../request-body.ts';
import { AnswerTranslation } from './answer-translation.ts';

/** A request as one target is to have it. */
export interface TranslatedCall {
  call: OutgoingCall;
  sendable: PreparedBody;
  /** Of one attempt's answer. */
  answer(): AnswerTranslation;
}

/** Who is asked, and under whose name the model knows its own reasoning again. */
interface Addressee {
  target: Target;
  credentialId: string | null;
  /** The client's name for the model. */
  model: string;
  /** Undefined where nobody knows. */
  maxOutputTokens: number | undefined;
}

interface Wanted {
  requestId: string;
  /** Nothing may be dropped or emulated. */
  refusesLosses: boolean;
}

export class RequestTranslation {
  readonly #call: OutgoingCall;
  readonly #wanted: Wanted;
  readonly #translator: Translator;
  readonly #asked: AskedConversation;
  readonly #upstreamCall: OutgoingCall;

  /** @throws GatewayError `malformed_json` or `invalid_value` where the body is no request of the client's API */
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

  /** Of the upstream's API. */
  get route(): Route {
    return this.#upstreamCall.match.route;
  }

  /** @throws GatewayError `invalid_value` for what this target cannot be asked */
  forTarget({ target, credentialId, model, maxOutputTokens }: Addressee): TranslatedCall {
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
      answer: () => this.#answer(request),
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

/** How a target is reached that does not serve the client's wire. */
export interface Passage {
  /** Of the upstream's API. */
  route: Route;
  translator: Translator;
}

/** Null where the target takes the request as it is, or it is none that can be translated. */
export function passageTo(target: Target, { wire }: Route, registry: Registry): Passage | null {
  const upstream = isWireName(wire.name) ? upstreamWireOf(target, wire.name) : null;
  if (upstream === null || upstream === wire.name || !isWireName(wire.name)) return null;
  const route = registry.conversationRoute(upstream);
  const translator = translatorFor(wire.name, upstream);
  return route && translator && { route, translator };
}

/** Which version of its own API the client speaks is no concern of another's. */
const foreignHeader = pattern(/^(?:anthropic-|x-claude-|x-app$)/);

function upstreamHeaders(headers: Readonly<Record<string, string>>, isStream: boolean): Record<string, string> {
  const passing: Record<string, string> = {};
  for (const name in headers) if (!foreignHeader.test(name)) passing[name] = headers[name] ?? '';
  passing.accept = isStream ? 'text/event-stream' : 'application/json';
  passing['content-type'] = 'application/json';
  return passing;
}
