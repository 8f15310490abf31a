/**
 * Translates a request whose client speaks another API than its targets. The request is parsed once and rendered for
 * each target that is asked; the target's answer is translated back by an `AnswerTranslation`.
 */
import type { Route } from '../../apis/core/api.ts';
import type { ChatFlavour } from '../../apis/core/chat-flavour.ts';
import type { Envelope, HostedModel, StreamUnpacker } from '../../apis/core/dialects/dialect.ts';
import { refuseStoredThread } from '../../apis/core/dialects/hosted-claude.ts';
import { inputOf } from '../../apis/core/requests/turn-step.ts';
import type { MeasuredRequest } from '../../apis/core/wire.ts';
import { parseLosslessJson, writeJson } from '../../apis/neutral/json-text.ts';
import { type Loss, refusalOf } from '../../apis/neutral/losses.ts';
import type { Target as TranslationTarget } from '../../apis/neutral/requests/rendering.ts';
import type { Registry } from '../../apis/registry.ts';
import { type CountingWire, CountTranslator, isCountingWire } from '../../apis/translation/count-translator.ts';
import {
  createEmbeddingsTranslator,
  type EmbeddingsTranslator,
  type EmbeddingsWireName,
  isEmbeddingsUpstreamName,
  isEmbeddingsWireName,
  type RenderedVectors,
  renderVectors,
  TranslatedEmbeddings,
  type WantedVectors,
} from '../../apis/translation/embeddings-translator.ts';
import { createKeptId } from '../../apis/translation/kept-reasoning.ts';
import { headerLosses, isAskedWhole, isWireName, upstreamWireOf } from '../../apis/translation/translation-registry.ts';
import { createTranslatorBetween, type NamedInUrl, type Translator } from '../../apis/translation/translator.ts';
import { isObject } from '../../contract/is-object.ts';
import type { ConversationWire } from '../../contract/operations.ts';
import { boundedPattern } from '../../ground/bounded-pattern.ts';
import type { MaybePromise } from '../../ground/promises.ts';
import { dialects } from '../../providers/dialects.ts';
import { contextOf } from '../../routing/attempt-plan.ts';
import type { Target } from '../../routing/snapshot.ts';
import type { ResponseStore } from '../../store/ports/kept-stores.ts';
import type { OutgoingCall } from '../request/outgoing-call.ts';
import type { PreparedBody } from '../request/request-body.ts';
import { type AnswerOptions, AnswerTranslation } from './answer-translation.ts';
import type { ClientReasoning } from './client-reasoning.ts';
import { isHeavyRequest, RequestApart, type TranslatedApart, vectorsApart } from './request-apart.ts';
import type { TranslationWay } from './thread-orders.ts';
import { isHeavyAnswer } from './translated-stream.ts';
import type { TranslationThreads } from './translation-threads.ts';

/** The request for one target and the translation of its answer. */
export interface PreparedRequest {
  call: OutgoingCall;
  sendable: PreparedBody;
  /** Null if the client speaks the upstream's API, so that bytes are forwarded unchanged. */
  translation: AnswerTranslation | null;
  /** What an untranslated request lost. A translation reports its own. */
  losses: readonly Loss[];
  /** Null unless a cloud hosts the model. */
  hosting: Hosting | null;
  /** Absent unless the provider takes the request only in parts. */
  earlier?: EarlierParts;
}

/** The parts of a request that have to be asked before its last one, which is `sendable`. */
export interface EarlierParts {
  bodies: readonly Buffer[];
  /** Takes the answer to the next of them. Null if it cannot be used. */
  take(answer: Buffer): MaybePromise<{ promptTokens: number } | null>;
}

/** How a cloud's answer is read. */
export interface Hosting {
  hosted: HostedModel;
  /** Null if its streams are server-sent events. */
  unpacker: (() => StreamUnpacker) | null;
}

/** The target of one attempt. Reasoning that a model returned is only valid for the same provider, model and account. */
interface Recipient {
  target: Target;
  credentialId: string | null;
  /** The client's name for the model. */
  model: string;
  /** The model's output limit in tokens; undefined if unknown. */
  maxOutputTokens: number | undefined;
  /** The target has refused the reasoning in the conversation. */
  withoutReasoning: boolean;
  /** What it refuses of chat requests. */
  chatFlavour: ChatFlavour | undefined;
}

interface Wanted {
  requestId: string;
  /** The client refuses translations that drop or emulate anything. */
  refusesLosses: boolean;
  /** The client's body with the items that it refers to. */
  body: Buffer;
  keptResponses: ResponseStore;
  reasoning: ClientReasoning;
  threads: TranslationThreads;
}

type Translated = AnswerOptions['request'];
/** Of one target. */
type AnswerFacts = Pick<AnswerOptions, 'contextTokens' | 'apart'>;

export class RequestTranslation {
  readonly #call: OutgoingCall;
  readonly #options: Wanted;
  readonly #translator: TranslationRoute['translator'];
  readonly #requestFor: (target: TranslationTarget) => MaybePromise<Translated>;
  /** Absent if this translates all answers. */
  readonly #apartFor: ((target: TranslationTarget) => Promise<TranslatedApart>) | undefined;
  readonly #upstreamCall: OutgoingCall;
  readonly #isResponse: boolean;

  /** @throws GatewayError `malformed_json` or `invalid_value` if the body is not a request of the client's API */
  constructor(call: OutgoingCall, { route, way, translator }: TranslationRoute, options: Wanted) {
    this.#call = call;
    this.#options = options;
    this.#translator = translator;
    const { match, body } = call;
    const fromPath = match.model === null ? undefined : { model: match.model, stream: body.fields.stream };
    this.#isResponse = match.route.job?.kind === 'response';
    const apart = way && this.#apart(way, fromPath);
    this.#requestFor = apart && isHeavyRequest(body) ? this.#countedBy(apart) : this.#here(fromPath);
    this.#apartFor = way?.kind === 'conversation' && apart ? apart : undefined;
    this.#upstreamCall = {
      ...call,
      match: { ...call.match, route },
      // A cloud that counts for a client of Claude's or Gemini's own API.
      headers:
        route.writeTokenCount && route.wire.name === call.match.route.wire.name
          ? call.headers
          : upstreamHeaders(call.headers, call.body.fields.stream && route.stream !== null),
      path: route.path,
      query: '',
    };
  }

  #here(fromPath: NamedInUrl | undefined): (target: TranslationTarget) => Translated {
    const { body, reasoning } = this.#options;
    const losses = headerLosses(this.#call.headers);
    return this.#translator.open(body, fromPath, (conversation) => reasoning.restored(conversation), losses);
  }

  /** In another thread, which is only asked if this would take long. */
  #apart(
    way: TranslationWay,
    fromUrl: NamedInUrl | undefined,
  ): (target: TranslationTarget) => Promise<TranslatedApart> {
    const { body, reasoning, threads } = this.#options;
    const { headers, memory } = this.#call;
    const { values = 0 } = this.#call.body;
    let apart: RequestApart | undefined;
    return (target) => {
      if (apart) return apart.forTarget(target);
      apart = new RequestApart(threads, { way, body, values, fromUrl, losses: headerLosses(headers), reasoning });
      memory.whenReleased(() => apart?.close());
      return apart.forTarget(target);
    };
  }

  /** The answer with a count is short. */
  #countedBy(
    apart: (target: TranslationTarget) => Promise<TranslatedApart>,
  ): (target: TranslationTarget) => Promise<Translated> {
    const translator = this.#translator;
    if (!(translator instanceof CountTranslator)) return apart;
    return async (target) => translator.counted((await apart(target)).body);
  }

  /** The route of the upstream's API. */
  get route(): Route {
    return this.#upstreamCall.match.route;
  }

  /**
   * Returns a promise, which may reject, if the request is translated in another thread.
   * @throws GatewayError `invalid_value` if the request cannot be translated for this target
   */
  forTarget({ target, credentialId, model, ...more }: Recipient): MaybePromise<PreparedRequest> {
    const { provider } = target;
    const origin = { provider: provider.id, model: target.model ?? model, account: credentialId ?? '' };
    const translated: TranslationTarget = {
      model: origin.model,
      origin,
      ...more,
      refusesStreamUsage: !provider.askUsage,
      prefill: provider.prefill,
    };
    const request = this.#requestFor(translated);
    const apartFor = this.#apartFor;
    const facts: AnswerFacts = {
      contextTokens: contextOf(target),
      ...(apartFor && { apart: () => apartFor(translated) }),
    };
    return request instanceof Promise
      ? request.then((rendered) => this.#prepared(rendered, facts))
      : this.#prepared(request, facts);
  }

  #prepared(request: Translated, facts: AnswerFacts): PreparedRequest {
    const refusal = this.#options.refusesLosses ? refusalOf(request.losses) : null;
    if (refusal) throw refusal;
    const { body } = request;
    this.#call.memory.add(body.length);
    return {
      call: this.#upstreamCall,
      sendable: { length: body.length, open: () => body, usageAsked: false },
      translation: this.#answer(request, facts),
      hosting: null,
      losses: [],
      ...(request instanceof TranslatedEmbeddings &&
        request.earlierBodies.length > 0 && { earlier: this.#earlierParts(request) }),
    };
  }

  #earlierParts(request: TranslatedEmbeddings): EarlierParts {
    const { memory } = this.#call;
    memory.add(sumOfLengths(request.earlierBodies));
    return {
      bodies: request.earlierBodies,
      take: async (answer) => {
        const taken = request.takeEarlier(await this.#vectorsOf(answer, request.wanted));
        // Held until the last part is answered.
        if (taken) memory.add(taken.bytes);
        return taken;
      },
    };
  }

  #vectorsOf(answer: Buffer, wanted: WantedVectors): MaybePromise<RenderedVectors | null> {
    if (isHeavyAnswer(answer, 0)) return vectorsApart(this.#options.threads, answer, wanted);
    return renderVectors(answer, wanted);
  }

  #answer(request: Translated, facts: AnswerFacts): AnswerTranslation {
    const { match, body } = this.#call;
    return new AnswerTranslation({
      request,
      translator: this.#translator,
      api: match.api,
      upstream: this.route,
      ...facts,
      requestValues: body.values ?? 0,
      vectorsApart: (answer, wanted) => vectorsApart(this.#options.threads, answer, wanted),
      stream: body.fields.stream ? match.route.stream : null,
      requestId: this.#options.requestId,
      mayParse: (size) => this.#call.memory.mayParse(size),
      ...(this.#isResponse && this.#response()),
      keepReasoning: (reasoning) => this.#options.reasoning.keep(reasoning),
    });
  }

  /** The response's id for the client, and where it is stored. */
  #response(): Pick<AnswerOptions, 'identity' | 'keep'> {
    const { keptResponses } = this.#options;
    const { body, group } = this.#call;
    const input = inputOf(body)?.bytes.toString() ?? '[]';
    const isKept = body.fields.store && keptResponses.mayKeep({ response: '', input });
    const identity = { id: createKeptId(), isKept, previousId: body.continuesId ?? null };
    const keep = (response: string) => keptResponses.keep({ id: identity.id, groupId: group.id, response, input });
    return isKept ? { identity, keep } : { identity };
  }
}

const sumOfLengths = (bodies: readonly Buffer[]) => bodies.reduce((sum, { length }) => sum + length, 0);

/**
 * Headers of a client's API, such as its version, and telemetry that SDKs, Codex and Claude Code send to their own
 * makers.
 */
const foreignHeader = boundedPattern(
  /^(?:anthropic-|x-claude-|x-app$|x-codex-|originator$|session-id$|thread-id$|x-goog-|x-gemini-|x-stainless-)/,
);

function upstreamHeaders(headers: Readonly<Record<string, string>>, isStream: boolean): Record<string, string> {
  const passedHeaders: Record<string, string> = {};
  for (const name in headers) if (!foreignHeader.test(name)) passedHeaders[name] = headers[name] ?? '';
  passedHeaders.accept = isStream ? 'text/event-stream' : 'application/json';
  passedHeaders['content-type'] = 'application/json';
  return passedHeaders;
}

// The request for a model that a cloud hosts: in the API of the model's maker, within the cloud's envelope.

/** @throws GatewayError `invalid_value` for a body that is nested too deep, `thread_not_found` for one that continues a thread */
export async function inEnvelope(prepared: PreparedRequest, hosted: HostedModel): Promise<PreparedRequest> {
  const { call, sendable, earlier } = prepared;
  const unpacker = hosted.unpacking && (await hosted.unpacking.load());
  const { body: client, path, headers } = call;
  const envelope = hosted.envelope({ path, headers, isStream: client.fields.stream });
  const clientBody = sendable.bytes ? await sendable.bytes() : sendable.open();
  if (!Buffer.isBuffer(clientBody)) throw new Error('unreachable: conversations are sent from memory');
  const { body, droppedFields } = rewriteBody(clientBody, envelope);
  const losses = [...envelope.unavailable.betas, ...droppedFields].map((field): Loss => {
    if (field === 'thread') return { fate: 'emulated', field, code: 'unkept-thread' };
    return { fate: 'dropped', field, code: 'no-equal' };
  });
  return {
    ...prepared,
    call: { ...call, path: envelope.path, query: '', headers: envelope.headers },
    sendable: { length: body.length, open: () => body, bytes: async () => body, usageAsked: sendable.usageAsked },
    hosting: { hosted, unpacker: unpacker ?? null },
    losses: [...prepared.losses, ...losses],
    ...(earlier && { earlier: { ...earlier, bodies: earlier.bodies.map((part) => rewriteBody(part, envelope).body) } }),
  };
}

interface Enveloped {
  body: Buffer;
  /** The fields that were left out because the cloud does not have them. */
  droppedFields: readonly string[];
}

/** Preserves the digits of numbers and the order of members. */
function rewriteBody(body: Buffer, { omitted, added, unavailable, rewrite }: Envelope): Enveloped {
  const isSame = !rewrite && omitted.length === 0 && unavailable.fields.length === 0 && Object.keys(added).length === 0;
  const request = isSame ? null : parseLosslessJson(body.toString());
  if (!isObject(request)) return { body, droppedFields: [] };
  const droppedFields = unavailable.fields.filter((name) => name in request);
  if (droppedFields.includes('thread') && isObject(request.thread)) refuseStoredThread(request.thread.type);
  const members = Object.entries(request).filter(([name]) => !omitted.includes(name) && !droppedFields.includes(name));
  const inside = { ...Object.fromEntries(members), ...added };
  return { body: Buffer.from(writeJson(rewrite?.(inside, writeJson) ?? inside)), droppedFields };
}

// Decides how to translate a request for a target that does not serve the client's wire.

const allDialects = Object.values(dialects);

/** The upstream route and the translator for such a target. */
export interface TranslationRoute {
  /** The route of the upstream's API. */
  route: Route;
  /** What the translator does, for a thread that has one of its own; null if none has: embeddings are flat lists of texts. */
  way: TranslationWay | null;
  translator: Translator | EmbeddingsTranslator | CountTranslator;
}

type AskedTarget = Pick<Target, 'provider' | 'model'>;

interface RequestFacts {
  route: Route;
  body: MeasuredRequest<string>;
  isStream: boolean;
  /** The client's name for the model; null if it named none. */
  model: string | null;
}

/** Null if the target accepts the request unchanged, or if the request cannot be translated. */
export function chooseTranslation(target: Target, facts: RequestFacts, registry: Registry): TranslationRoute | null {
  const { route, body, isStream } = facts;
  const client = route.wire.name;
  if (isEmbeddingsWireName(client)) return embeddingsTranslation(target, { ...facts, client }, registry);
  if (isWireName(client) && route.writeTokenCount) return countTranslation(target, facts, registry);
  if (!isWireName(client) || !beginsAnswer(route)) return null;
  const upstream = upstreamWireOf(target, client, body);
  if (upstream === null || (upstream === client && !route.wire.request.isMisplaced?.(body))) return null;
  const asksForStream = isStream && !isAskedWhole(upstream, target.model, body);
  const upstreamRoute = registry.conversationRoute(upstream, asksForStream);
  const way: TranslationWay = { kind: 'conversation', client, upstream };
  return upstreamRoute && { route: upstreamRoute, way, translator: createTranslatorBetween(client, upstream) };
}

/** Null if the target counts the client's own requests, or none. */
function countTranslation(
  target: Target,
  { route: { wire, writeTokenCount }, model }: RequestFacts,
  registry: Registry,
): TranslationRoute | null {
  const counting = isWireName(wire.name) ? countingWireOf(target, wire.name, model) : null;
  if (counting === null || !isWireName(wire.name) || writeTokenCount === null) return null;
  if (counting === wire.name && target.provider.dialect.hosted === undefined) return null;
  const route = registry.countingRoute(counting);
  const way: TranslationWay = { kind: 'count', client: wire.name, upstream: counting };
  return route && { route, way, translator: new CountTranslator(wire.name, counting, writeTokenCount) };
}

/**
 * The wire on which the target can be asked to count tokens for a client of another API or for a model in a cloud; null if it cannot.
 * @param modelName the client's name for the model
 */
export function countingWireOf(
  target: Target,
  client: ConversationWire,
  modelName: string | null,
): CountingWire | null {
  const hosted = target.provider.dialect.hosted?.(target.model ?? modelName ?? '');
  if (hosted?.countsTokens === false) return null;
  // Responses counts also for the models that are asked on the chat route.
  const wires = [upstreamWireOf(target, client, null), ...(target.provider.servedWires ?? [])];
  return wires.find(isCountingWire) ?? null;
}

function embeddingsTranslation(
  { provider, model }: Target,
  facts: RequestFacts & { client: EmbeddingsWireName },
  registry: Registry,
): TranslationRoute | null {
  const embeddingsWire = embeddingsWireOf({ provider, model }, facts.model);
  const { client, route: clientRoute } = facts;
  // Gemini's bodies repeat the model's name for each text; it must match the one in the URL.
  const isRenamed = clientRoute.modelIn === 'path' && model !== null && model !== facts.model;
  if (embeddingsWire === null || !isEmbeddingsUpstreamName(embeddingsWire)) return null;
  const route = registry.wholeRoute(embeddingsWire);
  const translator = createEmbeddingsTranslator(client, embeddingsWire, isRenamed);
  return route && translator && { route, way: null, translator };
}

/** Null if the target makes no embeddings. */
function embeddingsWireOf({ provider: { dialect }, model }: AskedTarget, modelName: string | null): string | null {
  return dialect.hosted ? dialect.hosted(model ?? modelName ?? '').embeddingsWire : dialect.embeddingsWire;
}

/**
 * Whether a target's provider can serve the route, directly or through translation. Sluice can count tokens itself.
 * @param modelName the client's name for the model
 */
export function isServedBy(target: Target, route: Route, modelName: string | null): boolean {
  const { dialect } = target.provider;
  const { name } = route.wire;
  // Requests on wires that no dialect knows are forwarded unchanged.
  if (dialect.serves(name) || !allDialects.some((each) => each.serves(name))) return true;
  if (isEmbeddingsWireName(name)) return embeddingsWireOf(target, modelName) !== null;
  return isWireName(name) && (beginsAnswer(route) || route.writeTokenCount !== null);
}

/** Whether the route generates an answer; others retrieve, cancel or delete one. */
function beginsAnswer({ method, stream, streamIn }: Route): boolean {
  return method === 'POST' && (stream !== null || streamIn === 'path');
}
