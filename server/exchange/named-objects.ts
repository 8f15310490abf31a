/** Objects at the provider that a request names, so that it reaches the account that has them. */
import { conversationIn } from '../wire/named-session.ts';
import type { RouteMatch } from '../wire/registry.ts';
import type { RequestBody } from './request-body.ts';
import { sourceVideoOf } from './source-video.ts';

/** The job that the path names, or that a body names as what it starts from; null if there is none. */
export function jobNamedIn({ route, id }: RouteMatch, body: RequestBody): string | null {
  return id === null && route.job?.behaviour === 'creates-from' ? sourceVideoOf(body) : id;
}

/** The stored conversation that a new response goes on with; null if there is none. */
export function conversationNamedIn({ route }: RouteMatch, body: RequestBody): string | null {
  if (route.job?.kind !== 'response' || route.job.behaviour !== 'creates') return null;
  return conversationIn(body);
}
