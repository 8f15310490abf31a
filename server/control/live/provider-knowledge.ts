import type { DetectedServer, Preset } from '../../contract/preset.ts';
import type { ProbeReport } from '../../contract/probe.ts';
import type { ProviderChanges } from '../../contract/provider-commands.ts';
import type { DiscoveryView } from '../../contract/provider-views.ts';
import type { PriceTable } from '../../models/price-table.ts';
import { detectLocal } from '../../providers/detect-local.ts';
import type { Discovery } from '../../providers/discovery.ts';
import { type FoundApi, findApi } from '../../providers/find-api.ts';
import { presets } from '../../providers/presets.ts';
import { probeProvider } from '../../providers/probe.ts';
import type { Upstream } from '../../providers/upstream.ts';
import type { CompiledProvider } from '../../routing/snapshot.ts';
import type { Transport } from '../../transport/transport.ts';
import { chooseTrialModel, trialUsage, tryModel, wordsOf } from './trial-call.ts';

/** Presets, discovered models, and queries to services. */
export interface ProviderKnowledge {
  presets(): readonly Preset[];
  /** The values of a preset; undefined if there is no preset with this id. */
  preset(id: string): ProviderChanges | undefined;
  localServers(): Promise<DetectedServer[]>;
  /** `model`: the model to call; by default a cheap one. */
  probe(provider: CompiledProvider, model?: string): Promise<ProbeReport>;
  /** The same of a provider that is not added, whose prices are those of its preset. */
  probeNew(provider: CompiledProvider, preset: string | null): Promise<ProbeReport>;
  /** Which API the service at this address speaks; null if that cannot be told. */
  findApi(
    address: string,
    asUpstream: (as: Pick<FoundApi, 'dialect' | 'baseUrl'>) => Upstream,
  ): Promise<FoundApi | null>;
  refreshModels(provider: Upstream): Promise<void>;
  discovery(providerId: string): DiscoveryView;
}

interface ProviderKnowledgePorts {
  transport: Transport;
  discovery: Omit<Discovery, 'onChange'>;
  /** Sluice's own ports, which are skipped. */
  ownPorts(): ReadonlySet<number>;
  prices: Pick<PriceTable, 'cost'>;
}

export function createProviderKnowledge(ports: ProviderKnowledgePorts): ProviderKnowledge {
  const { transport, discovery, ownPorts } = ports;
  return {
    presets: () => presets,
    preset(id) {
      const preset = presets.find((each) => each.id === id);
      if (!preset) return undefined;
      const { name, dialect, baseUrl, models, askUsage } = preset;
      return { preset: id, name, dialect, baseUrl, models, askUsage };
    },
    localServers: () => detectLocal({ transport, ownPorts: ownPorts() }),
    probe: (provider, model) => probeWithCall(provider, { model, pricedAs: provider.id }, ports),
    probeNew: (provider, preset) => probeWithCall(provider, { pricedAs: preset ?? provider.id }, ports),
    findApi: (address, asUpstream) => findApi(address, { transport, asUpstream }),
    async refreshModels(provider) {
      await discovery.refresh(provider);
    },
    discovery(providerId) {
      const { fetchedAt, error, finding } = discovery.state(providerId);
      return { refreshedAt: fetchedAt, problem: error, finding };
    },
  };
}

function probeWithCall(
  provider: CompiledProvider,
  { model: requestedModel, pricedAs }: { model?: string | undefined; pricedAs: string },
  { transport, prices }: ProviderKnowledgePorts,
): Promise<ProbeReport> {
  const price = (model: string) => prices.cost(pricedAs, model, trialUsage);
  return probeProvider(provider, {
    transport,
    wordsOf: (body) => wordsOf(body, provider),
    async tryModel(listedModels) {
      // Azure lists the models that could be deployed, so a configured list is better.
      const candidates = provider.discoversModels ? listedModels : [...provider.models.keys()];
      const chosen =
        requestedModel === undefined ? chooseTrialModel(provider, candidates, price) : { model: requestedModel };
      return typeof chosen === 'string' ? chosen : tryModel(provider, chosen.model, transport);
    },
  });
}
