import { useCallback } from 'react';
import { useControlState } from '../../state/use-control.ts';

/** What a person calls a credential, by the ids of its provider and its own, which also stands for one that is gone. */
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
