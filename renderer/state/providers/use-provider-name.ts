import { useCallback } from 'react';
import { useMessages } from '../../messages/use-messages.ts';
import { useControlState } from '../control/use-control.ts';
import { demoId } from './demo-id.ts';

/** Returns a provider's name, given its id; the id itself if the provider is gone. */
export function useProviderName(): (id: string) => string {
  const providers = useControlState((state) => state.views?.providers ?? null);
  const { demoName } = useMessages().providers;
  return useCallback(
    (id) => (id === demoId ? demoName : (providers?.find((each) => each.id === id)?.name ?? id)),
    [providers, demoName],
  );
}
