import type { LiveRequest } from '../../state/live-request.ts';
import type { ClientGuide } from './client-guide.ts';

/** When the client's latest request arrived, in Unix milliseconds; null if none is known or they cannot be told apart. */
export function latestArrival({ userAgent }: ClientGuide, requests: readonly LiveRequest[]): number | null {
  if (!userAgent) return null;
  return requests.find(({ client }) => client !== null && userAgent.test(client))?.startedAt ?? null;
}
