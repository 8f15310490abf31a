import { useCallback } from 'react';
import { useControlState } from '../control/use-control.ts';

/**
 * Returns a credential's label, given the ids of its provider and of the credential; the id itself if it has no label
 * or is gone.
 */
export function useCredentialName(): (provider: string, credential: string) => string {
  const providers = useControlState((state) => state.views?.providers ?? null);
  return useCallback(
    (provider, credential) => {
      const credentials = providers?.find(({ id }) => id === provider)?.credentials;
      return credentials?.find(({ id }) => id === credential)?.label ?? credential;
    },
    [providers],
  );
}
