/** Finds the provider's objects that a request refers to, so that it is sent to the account that owns them. */
import { conversationIn } from '../../apis/core/requests/client-session.ts';
import type { RouteMatch } from '../../apis/registry.ts';
import type { RequestBody } from '../request/request-body.ts';

const none: readonly string[] = [];

/** The ids of all stored objects that the request refers to. */
export function referencedObjects(match: RouteMatch, body: RequestBody): readonly string[] {
  const { passthrough, route } = match;
  if (passthrough) return [...passthrough.names, ...(body.referencedIds ?? none)];
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
