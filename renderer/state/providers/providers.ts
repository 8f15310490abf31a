import { useCallback } from 'react';
import { formatMessage } from '../../../server/contract/coded.ts';
import type { CommandInputMap } from '../../../server/contract/commands.ts';
import type { demoProviderId } from '../../../server/contract/config.ts';
import type { ConfigViews } from '../../../server/contract/events.ts';
import {
  blockOf,
  type CredentialView,
  type DiscoveryView,
  type ProviderView,
} from '../../../server/contract/provider-views.ts';
import type { Messages } from '../../messages/en/en.ts';
import { useMessages } from '../../messages/use-messages.ts';
import { useControlState } from '../control/use-control.ts';

/** A row of the list. The built-in demo has one even while it is off, when it is not among the engine's providers. */
export interface ProviderRowData {
  id: string;
  isDemo: boolean;
  isOn: boolean;
  /** Null for the demo while it is off or could not start. */
  provider: ProviderView | null;
}

export function providerRows({ providers, status }: Pick<ConfigViews, 'providers' | 'status'>): ProviderRowData[] {
  const rows = providers.map((provider) => ({
    id: provider.id,
    isDemo: provider.isDemo,
    isOn: provider.enabled,
    provider,
  }));
  if (providers.some((provider) => provider.isDemo)) return rows;
  const showsDemo = status.settings.demo === 'on' || (status.settings.demo === 'auto' && providers.length === 0);
  return [...rows, { id: demoId, isDemo: true, isOn: showsDemo, provider: null }];
}

type SwitchCommand = CommandInputMap['provider.set-enabled'] | CommandInputMap['settings.update'];

/** The demo is not in the configuration's providers; a setting switches it. */
export function switchCommand({ id, isDemo }: ProviderRowData, enabled: boolean): SwitchCommand {
  return isDemo
    ? { type: 'settings.update', changes: { demo: enabled ? 'on' : 'off' } }
    : { type: 'provider.set-enabled', id, enabled };
}

/**
 * Id of the built-in demo, which no other provider can have. Importing the constant itself would pull the
 * configuration's schemas into the window's bundle.
 */
export const demoId: typeof demoProviderId = 'demo';

/** Returns a provider's name, given its id; the id itself if the provider is gone. */
export function useProviderName(): (id: string) => string {
  const providers = useControlState((state) => state.views?.providers ?? null);
  const { demoName } = useMessages().providers;
  return useCallback(
    (id) => (id === demoId ? demoName : (providers?.find((each) => each.id === id)?.name ?? id)),
    [providers, demoName],
  );
}

/** What a credential is called: by its label, the variable that it is read from, or its place; by its id if it is gone. */
export function credentialNameOf(
  credentials: readonly CredentialView[],
  credential: string,
  { nth }: Pick<Messages['providers']['credential'], 'nth'>,
): string {
  const index = credentials.findIndex(({ id }) => id === credential);
  const { label = null, reference = '' } = credentials[index] ?? {};
  if (label !== null || index === -1) return label ?? credential;
  const [, variable] = /^env:(.+)$/.exec(reference) ?? [];
  return variable ?? nth(String(index + 1));
}

/** Returns what a credential is called, given the ids of its provider and of the credential. */
export function useCredentialName(): (provider: string, credential: string) => string {
  const providers = useControlState((state) => state.views?.providers ?? null);
  const names = useMessages().providers.credential;
  return useCallback(
    (provider, credential) =>
      credentialNameOf(providers?.find(({ id }) => id === provider)?.credentials ?? [], credential, names),
    [providers, names],
  );
}

/** Why a provider receives no requests, in the language of the window; null if it does. */
export function blockedReason(provider: ProviderView, texts: Messages['providers']['blocked']): string | null {
  const block = blockOf(provider);
  return block && texts[block];
}

/** Why the models of a provider could not be listed; empty if they could. */
export function unlistedReason({ finding, problem }: DiscoveryView, { findings }: Messages['probe']): string {
  return finding ? formatMessage(findings, finding) : (problem ?? '');
}
