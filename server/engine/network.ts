/** Follows changes of the machine's network. */
import type { Config } from '../contract/config.ts';
import type { LiveConfig } from '../control/live/live-config.ts';
import type { HealthTracker } from '../routing/health/health-tracker.ts';
import type { Authorities } from '../transport/authorities.ts';
import { machineAddresses, watchNetwork } from '../transport/network-watch.ts';
import type { Transport } from '../transport/transport.ts';

interface Reached {
  transport: Transport;
  health: HealthTracker;
  authorities: Authorities;
}

interface FollowedNetwork {
  /** Must be called after sleep, or after a change that only the caller can notice. */
  changed(): void;
  stop(): void;
}

/** Drops connections and health when the machine's addresses, its certificates or the network settings change. */
export function followNetwork({ transport, health, authorities }: Reached, live: LiveConfig): FollowedNetwork {
  const changed = () => {
    transport.leaveConnections();
    health.networkChanged();
  };
  live.onChange(({ before, after }) => {
    if (networkSettings(before) !== networkSettings(after)) changed();
  });
  const stop = watchNetwork({
    changed,
    readState: () => `${[...machineAddresses()].sort().join(' ')} ${authorities.fingerprint()}`,
  });
  return { changed, stop };
}

/** The settings that determine how providers are reached. */
function networkSettings({ settings: { systemCa, extraCaFiles, noProxy } }: Config): string {
  return JSON.stringify([systemCa, extraCaFiles, noProxy]);
}
