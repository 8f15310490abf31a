/** Decides how to translate a request for a target that does not serve the client's wire. */

import type { Route } from '../../apis/core/api.ts';
import type { MeasuredRequest } from '../../apis/core/wire.ts';
import type { Registry } from '../../apis/registry.ts';
import { type CountingWire, CountTranslator, isCountingWire } from '../../apis/translation/count-translator.ts';
import {
  createEmbeddingsTranslator,
  type EmbeddingsTranslator,
  type EmbeddingsWireName,
  isEmbeddingsUpstreamName,
  isEmbeddingsWireName,
} from '../../apis/translation/embeddings-translator.ts';
import { isAskedWhole, isWireName, upstreamWireOf } from '../../apis/translation/translation-registry.ts';
import { createTranslatorBetween, type Translator } from '../../apis/translation/translator.ts';
import type { ConversationWire } from '../../contract/operations.ts';
import { dialects } from '../../providers/dialects.ts';
import type { Target } from '../../routing/snapshot.ts';
import type { TranslationWay } from './thread-orders.ts';

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
