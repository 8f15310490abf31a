/** How a request reaches a target that does not serve the client's wire. */
import type { Target } from '../../routing/snapshot.ts';
import { type Translator, translatorFor } from '../../translate/translator.ts';
import { upstreamWireOf } from '../../translate/upstream-wire.ts';
import { isWireName } from '../../translate/wire-translations.ts';
import type { Registry } from '../../wire/registry.ts';
import type { Route } from '../../wire/route.ts';
import type { RequestView } from '../../wire/wire.ts';

/** How to ask a target that does not serve the client's wire. */
export interface Passage {
  /** The route of the upstream's API. */
  route: Route;
  translator: Translator;
}

interface Asked {
  route: Route;
  body: RequestView;
  isStream: boolean;
}

/** Null if the target takes the request as it is, or the request cannot be translated. */
export function passageTo(target: Target, { route, body, isStream }: Asked, registry: Registry): Passage | null {
  const client = route.wire.name;
  if (!isWireName(client) || !beginsAnswer(route)) return null;
  const upstream = upstreamWireOf(target, client, body);
  if (upstream === client || upstream === null) return null;
  const upstreamRoute = registry.conversationRoute(upstream, isStream);
  const translator = translatorFor(client, upstream);
  return upstreamRoute && translator && { route: upstreamRoute, translator };
}

/** Other routes fetch, cancel or delete an answer. */
function beginsAnswer({ method, stream, streamIn }: Route): boolean {
  return method === 'POST' && (stream !== null || streamIn === 'path');
}
