import { useCallback } from 'react';
import { useMessages } from '../../messages/use-messages.ts';
import { useControlState } from '../../state/use-control.ts';

/** What a person calls a provider, by its id, which also stands for one that is gone. */
export function useProviderName(): (id: string) => string {
  const providers = useControlState((state) => state.views?.providers ?? null);
  const { demoName } = useMessages().providers;
  return useCallback(
    (id) => {
      const provider = providers?.find((each) => each.id === id);
      return provider?.isDemo ? demoName : (provider?.name ?? id);
    },
    [providers, demoName],
  );
}
