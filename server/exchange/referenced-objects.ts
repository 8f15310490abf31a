/** Objects at the provider that a request names, so that it reaches the account that has them. */
import { conversationIn } from '../wire/client-session.ts';
import type { RouteMatch } from '../wire/registry.ts';
import type { RequestBody } from './request-body.ts';
import { sourceVideoOf } from './source-video.ts';

const none: readonly string[] = [];

/** The ids of all stored objects that the request names. */
export function referencedObjects(match: RouteMatch, body: RequestBody): readonly string[] {
  const { passthrough, route } = match;
  if (passthrough) return [...passthrough.names, ...(body.referencedIds ?? none)];
  const { previousResponseId } = body.fields;
  if (!route.job && previousResponseId === null) return none;
  return [referencedJob(match, body), referencedConversation(match, body), previousResponseId].filter(
    (id) => id !== null,
  );
}

/** The job that the path names, or that a body names as what it starts from; null if there is none. */
export function referencedJob({ route, id }: RouteMatch, body: RequestBody): string | null {
  return id === null && route.job?.behaviour === 'creates-from' ? sourceVideoOf(body) : id;
}

/** The stored conversation that a new response goes on with; null if there is none. */
export function referencedConversation({ route }: RouteMatch, body: RequestBody): string | null {
  if (route.job?.kind !== 'response' || route.job.behaviour !== 'creates') return null;
  return conversationIn(body);
}
