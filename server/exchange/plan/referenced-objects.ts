/** Finds the provider's objects that decide to which account a request is sent, since it owns them. */
import { conversationIn } from '../../apis/core/requests/client-session.ts';
import type { RouteMatch } from '../../apis/registry.ts';
import type { RequestBody } from '../request/request-body.ts';

const none: readonly string[] = [];
/** Of those in the body of a passthrough request, as many are asked for their owner. */
const maxOwned = 32;

/** The ids of the stored objects whose owner answers the request. */
export function referencedObjects(match: RouteMatch, body: RequestBody): readonly string[] {
  const { passthrough, route } = match;
  if (passthrough) return [...passthrough.names, ...owningIds(body)];
  const { previousResponseId } = body.fields;
  const threadId = continuedThread(match, body);
  if (threadId !== null) return [threadId];
  if (!route.job && previousResponseId === null) return none;
  return [match.id, referencedConversation(match, body), previousResponseId].filter((id) => id !== null);
}

/** The stored conversation that a new response continues; null if there is none. */
export function referencedConversation({ route }: RouteMatch, body: RequestBody): string | null {
  if (route.job?.kind !== 'response' || route.job.behaviour !== 'creates') return null;
  return conversationIn(body);
}

/** The latest message of the stored thread that the request continues; null if it continues none. */
export function continuedThread({ route }: RouteMatch, body: RequestBody): string | null {
  return route.wire.request.threadOf?.(body)?.previousMessageId ?? null;
}

export function owningIds({ referencedIds = none }: RequestBody): readonly string[] {
  return referencedIds.slice(0, maxOwned);
}
