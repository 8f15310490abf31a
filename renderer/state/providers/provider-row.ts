import type { CommandInputMap } from '../../../server/contract/commands.ts';
import type { ConfigViews } from '../../../server/contract/events.ts';
import type { ProviderView } from '../../../server/contract/provider-views.ts';
import { demoId } from './demo-id.ts';

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
