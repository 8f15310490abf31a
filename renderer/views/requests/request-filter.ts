/** What of the requests is looked at. It stands in the address; the same filter holds for what is live and what is older. */
import type { RequestFilterInput } from '../../../server/contract/queries.ts';
import type { LiveRequest } from '../../state/live-request.ts';

export const outcomes = ['ok', 'error', 'client-gone', 'stream-broken', 'interrupted', 'running'] as const;

export type ShownFilter = Pick<RequestFilterInput, 'outcome' | 'model' | 'provider' | 'keyId'>;

export function filterOf(search: URLSearchParams): ShownFilter {
  const outcome = outcomes.find((each) => each === search.get('outcome'));
  const model = search.get('model');
  const provider = search.get('provider');
  const keyId = search.get('key');
  return {
    ...(outcome && { outcome }),
    ...(model && { model }),
    ...(provider && { provider }),
    ...(keyId && { keyId }),
  };
}

/** The filter as it stands in an address; empty if it leaves nothing out. */
export function searchOf({ outcome, model, provider, keyId }: ShownFilter): string {
  const search = new URLSearchParams({
    ...(outcome && { outcome }),
    ...(model && { model }),
    ...(provider && { provider }),
    ...(keyId && { key: keyId }),
  }).toString();
  return search && `?${search}`;
}

/** As the ledger does it. */
export function isShown(request: LiveRequest, { outcome, model, provider, keyId }: ShownFilter): boolean {
  return (
    (outcome === undefined || (request.outcome ?? 'running') === outcome) &&
    (model === undefined || request.modelAsked === model || request.modelServed === model) &&
    (provider === undefined || request.provider === provider) &&
    (keyId === undefined || request.keyId === keyId)
  );
}
