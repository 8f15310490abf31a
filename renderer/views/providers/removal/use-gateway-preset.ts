import type { ProviderView } from '../../../../server/contract/provider-views.ts';
import type { TeamPresetView } from '../../../../server/contract/status-views.ts';
import { useControlState } from '../../../state/control/use-control.ts';

/**
 * The team preset in force that this team's gateway offered, which ends when the gateway is left; null if there is
 * none.
 */
export function useGatewayPreset(provider: ProviderView | null): TeamPresetView | null {
  const presets = useControlState((state) => state.views?.status.team.presets ?? null) ?? [];
  if (!provider?.joined) return null;
  const { origin } = new URL(provider.baseUrl);
  return presets.find(({ gateway }) => gateway === origin) ?? null;
}
