import type { ProviderChanges } from '../contract/commands.ts';
import type { DetectedServer, Preset } from '../contract/preset.ts';
import type { ProbeReport } from '../contract/probe.ts';
import type { DiscoveryView } from '../contract/provider-views.ts';
import { detectLocal } from '../providers/detect-local.ts';
import type { Discovery } from '../providers/discovery.ts';
import { presets } from '../providers/presets.ts';
import { probeProvider } from '../providers/probe.ts';
import type { Upstream } from '../providers/upstream.ts';
import type { Transport } from '../transport/transport.ts';

/** Presets, discovered models, and queries to services. */
export interface ProviderKnowledge {
  presets(): readonly Preset[];
  /** The values of a preset; undefined if there is none of that id. */
  preset(id: string): ProviderChanges | undefined;
  localServers(): Promise<DetectedServer[]>;
  probe(provider: Upstream): Promise<ProbeReport>;
  refreshModels(provider: Upstream): Promise<void>;
  discovery(providerId: string): DiscoveryView;
}

interface ProviderKnowledgePorts {
  transport: Transport;
  discovery: Discovery;
  /** Sluice's own ports, which are skipped. */
  ownPorts(): ReadonlySet<number>;
}

export function createProviderKnowledge({ transport, discovery, ownPorts }: ProviderKnowledgePorts): ProviderKnowledge {
  return {
    presets: () => presets,
    preset(id) {
      const preset = presets.find((each) => each.id === id);
      if (!preset) return undefined;
      const { name, dialect, baseUrl, models, askUsage } = preset;
      return { preset: id, name, dialect, baseUrl, models, askUsage };
    },
    localServers: () => detectLocal({ transport, ownPorts: ownPorts() }),
    probe: (provider) => probeProvider(provider, { transport }),
    async refreshModels(provider) {
      await discovery.refresh(provider);
    },
    discovery(providerId) {
      const { fetchedAt, error, finding } = discovery.state(providerId);
      return { refreshedAt: fetchedAt, problem: error, finding };
    },
  };
}
