import type { Logger } from 'pino';
import type { ModelInfo } from '../routing/snapshot.ts';
import type { Transport } from '../transport/transport.ts';
import type { ProviderKnowledge } from './control-plane.ts';

export interface ProviderKnowledgePorts {
  transport: Transport;
  log: Logger;
}

export function createProviderKnowledge(
  _ports: ProviderKnowledgePorts,
): ProviderKnowledge & { discovered(): ReadonlyMap<string, ReadonlyMap<string, ModelInfo>> } {
  return {
    presets: () => [],
    preset: () => undefined,
    localServers: async () => [],
    test: async (provider) => ({ provider, ok: true, steps: [] }),
    refreshModels: async () => {},
    discovery: () => null,
    discovered: () => new Map(),
  };
}
