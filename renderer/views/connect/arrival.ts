/** When requests of a client last arrived, according to the live list and the ledger. Pure. */
import { clientIdOf, mayBeAny } from '../../../server/contract/known-clients.ts';
import type { ClientUseView, RefusalView } from '../../../server/contract/request-views.ts';
import type { LiveRequest } from '../../state/requests/live-request.ts';

/** Both are ordered newest first. */
export interface ClientUses {
  requests: readonly LiveRequest[];
  fromLedger: readonly ClientUseView[];
}

/** When the client's latest request arrived, in Unix milliseconds; null if none is known. */
export function latestArrival(clientId: string, uses: ClientUses): number | null {
  return latestUse(uses, ({ client }) => clientIdOf(client) === clientId)?.lastUsedAt ?? null;
}

/**
 * The latest use of the key by a program that could be any client: not the window, nor a client recognised by its name.
 */
export function latestKeyUse(keyId: string, uses: ClientUses): ClientUseView | null {
  return latestUse(uses, (use) => use.keyId === keyId && mayBeAny(use.client));
}

/** The client's latest request refused for lack of a valid key, if it came after the last accepted one. */
export function latestRefusal(
  clientId: string,
  refusals: readonly RefusalView[],
  arrivedAt: number | null,
): RefusalView | null {
  const isOfClient = ({ keyId, lastClient, lastAt }: RefusalView) =>
    keyId === null && lastClient !== null && clientIdOf(lastClient) === clientId && lastAt > (arrivedAt ?? 0);
  return refusals.find(isOfClient) ?? null;
}

function latestUse(
  { requests, fromLedger }: ClientUses,
  matches: (use: ClientUseView) => boolean,
): ClientUseView | null {
  for (const { client, keyId, startedAt } of requests) {
    const use = client !== null && { client, keyId, lastUsedAt: startedAt };
    if (use && matches(use)) return use;
  }
  return fromLedger.find(matches) ?? null;
}
