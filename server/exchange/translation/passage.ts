/** Chooses the upstream wire of a request by what its target serves. */
import { dialects } from '../../providers/registry.ts';
import type { Target } from '../../routing/snapshot.ts';
import {
  type EmbeddingsTranslator,
  type EmbeddingsWireName,
  embeddingsTranslatorFor,
  isEmbeddingsWireName,
} from '../../translate/embeddings/embeddings-translator.ts';
import { openaiFacts } from '../../translate/model-facts.ts';
import type { WireName } from '../../translate/neutral.ts';
import { type Translator, translatorFor } from '../../translate/translator.ts';
import { isWireName } from '../../translate/wire-translations.ts';
import type { Registry } from '../../wire/registry.ts';
import type { Route } from '../../wire/route.ts';
import type { RequestView } from '../../wire/wire.ts';

const allDialects = Object.values(dialects);

/** How a target is reached that does not serve the client's wire. */
export interface Passage {
  /** Of the upstream's API. */
  route: Route;
  translator: Translator | EmbeddingsTranslator;
}

interface Asked {
  route: Route;
  body: RequestView;
  isStream: boolean;
  /** The client's name for the model; null if it named none. */
  model: string | null;
}

/** Null where the target takes the request as it is, or it is none that can be translated. */
export function passageTo(target: Target, asked: Asked, registry: Registry): Passage | null {
  const { route, body, isStream } = asked;
  const client = route.wire.name;
  if (isEmbeddingsWireName(client)) return embeddingsPassage(target, { ...asked, client }, registry);
  if (!isWireName(client)) return null;
  const upstream = upstreamWire(target, client, body);
  if (upstream === client || !isWireName(upstream) || !beginsAnswer(route)) return null;
  const upstreamRoute = registry.conversationRoute(upstream, isStream);
  const translator = translatorFor(client, upstream);
  return upstreamRoute && translator && { route: upstreamRoute, translator };
}

function embeddingsPassage(
  { provider, model }: Target,
  asked: Asked & { client: EmbeddingsWireName },
  registry: Registry,
): Passage | null {
  const { embeddingsWire } = provider.dialect;
  const { client, route: clientRoute } = asked;
  // Each text in the body has the model's name too, which has to be that of the URL.
  const isRenamed = clientRoute.modelIn === 'path' && model !== null && model !== asked.model;
  if (embeddingsWire === null || !isEmbeddingsWireName(embeddingsWire)) return null;
  const route = registry.embeddingsRoute(embeddingsWire);
  const translator = embeddingsTranslatorFor(client, embeddingsWire, isRenamed);
  return route && translator && { route, translator };
}

/** Whether a target's provider can be asked what comes on the route, as it is or translated. Tokens Sluice counts itself. */
export function isServedBy({ provider: { dialect } }: Target, route: Route): boolean {
  const { name } = route.wire;
  // What no dialect knows goes as it is.
  if (dialect.serves(name) || !allDialects.some((each) => each.serves(name))) return true;
  if (isEmbeddingsWireName(name)) return dialect.embeddingsWire !== null;
  return isWireName(name) && (beginsAnswer(route) || route.writeTokenCount !== null);
}

/** Unlike those that fetch, cancel or delete one. */
function beginsAnswer({ method, stream, streamIn }: Route): boolean {
  return method === 'POST' && (stream !== null || streamIn === 'path');
}

/** The client's own wire where the target serves it, else the one on which its provider is asked for conversations. */
function upstreamWire({ provider, model }: Target, client: WireName, body: RequestView): string {
  const { dialect, servedWires } = provider;
  const isServed = dialect.serves(client) && (servedWires === null || servedWires.includes(client));
  const wire = isServed ? client : (servedWires?.[0] ?? dialect.conversationWire);
  const isChosen = wire === 'openai-chat' && model !== null && servedWires?.includes('openai-responses') === true;
  return isChosen && needsResponses(model, client, body) ? 'openai-responses' : wire;
}

/** OpenAI refuses it in a chat. */
function needsResponses(model: string, client: WireName, body: RequestView): boolean {
  const { chat } = openaiFacts(model);
  if (chat === 'all' || chat === 'nothing') return chat === 'nothing';
  if (!body.raw('tools')?.items) return false;
  return chat === 'no-functions' || client !== 'openai-chat' || (body.field('reasoning_effort') ?? 'none') !== 'none';
}
