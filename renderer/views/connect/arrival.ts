/** When clients came through: by the requests that the window has heard of, and by what the ledger remembers. Pure. */
import type { ClientUseView, RefusalView } from '../../../server/contract/request-views.ts';
import type { LiveRequest } from '../../state/live-request.ts';
import type { ClientGuide } from './client-guide.ts';

/** Both newest first. */
export interface KnownUses {
  requests: readonly LiveRequest[];
  remembered: readonly ClientUseView[];
}

/** When the client's latest request arrived, in Unix milliseconds; null if none is known or they cannot be told apart. */
export function latestArrival({ userAgent }: ClientGuide, uses: KnownUses): number | null {
  return userAgent && (latestUse(uses, ({ client }) => userAgent.test(client))?.lastUsedAt ?? null);
}

/** What the latest request with the key called itself; null if that is not known. */
export function latestClientOf(keyId: string, uses: KnownUses): string | null {
  return latestUse(uses, (use) => use.keyId === keyId)?.client ?? null;
}

/** The client's latest request that was refused for want of a valid key, if it came after the one that arrived. */
export function latestRefusal(
  { userAgent }: ClientGuide,
  refusals: readonly RefusalView[],
  arrivedAt: number | null,
): RefusalView | null {
  const isIts = ({ lastClient, lastAt }: RefusalView) =>
    lastClient !== null && userAgent?.test(lastClient) && lastAt > (arrivedAt ?? 0);
  return refusals.find(isIts) ?? null;
}

function latestUse({ requests, remembered }: KnownUses, is: (use: ClientUseView) => boolean): ClientUseView | null {
  for (const { client, keyId, startedAt } of requests) {
    const use = client !== null && { client, keyId, lastUsedAt: startedAt };
    if (use && is(use)) return use;
  }
  return remembered.find(is) ?? null;
}
