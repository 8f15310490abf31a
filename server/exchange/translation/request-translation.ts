/**
 * A request whose client speaks another API than some of its targets. Parsed once, and written anew for each target that is
 * asked; what comes of those goes through an `AnswerTranslation` of its own.
 */
import { pattern } from '../../bounded-pattern.ts';
import type { Target } from '../../routing/snapshot.ts';
import type { TranslatedEmbeddings } from '../../translate/embeddings/embeddings-translator.ts';
import type { Target as TranslationTarget } from '../../translate/rendering.ts';
import { refusalOf } from '../../translate/tell-losses.ts';
import type { TranslatedRequest } from '../../translate/translated-request.ts';
import type { Route } from '../../wire/route.ts';
import type { OutgoingCall } from '../outgoing-request.ts';
import type { PreparedBody } from '../request-body.ts';
import { AnswerTranslation } from './answer-translation.ts';
import type { Passage } from './passage.ts';

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
  readonly #translator: Passage['translator'];
  readonly #requestFor: (target: TranslationTarget) => TranslatedRequest | TranslatedEmbeddings;
  readonly #upstreamCall: OutgoingCall;

  /** @throws GatewayError `malformed_json` or `invalid_value` where the body is no request of the client's API */
  constructor(call: OutgoingCall, { route, translator }: Passage, wanted: Wanted) {
    this.#call = call;
    this.#wanted = wanted;
    this.#translator = translator;
    const { match, body } = call;
    const named = match.model === null ? undefined : { model: match.model, stream: body.fields.stream };
    this.#requestFor = translator.open(body.captured ?? Buffer.alloc(0), named);
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
    const request = this.#requestFor({
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

  #answer(request: TranslatedRequest | TranslatedEmbeddings): AnswerTranslation {
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

/** Which version of its own API the client speaks, and as whose, is no concern of another's. */
const foreignHeader = pattern(/^(?:anthropic-|x-claude-|x-app$|x-goog-|x-gemini-)/);

function upstreamHeaders(headers: Readonly<Record<string, string>>, isStream: boolean): Record<string, string> {
  const passing: Record<string, string> = {};
  for (const name in headers) if (!foreignHeader.test(name)) passing[name] = headers[name] ?? '';
  passing.accept = isStream ? 'text/event-stream' : 'application/json';
  passing['content-type'] = 'application/json';
  return passing;
}
