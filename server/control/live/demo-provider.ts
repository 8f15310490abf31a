import { type Config, demoProviderId, type ProviderConfig, providerSchema } from '../../contract/config.ts';
import { credentialSecretName } from '../../secrets/secret-store.ts';

/** The running demo upstream and its provider entry. */
export interface RunningDemo {
  provider: ProviderConfig;
  /** By secret name. */
  secrets: ReadonlyMap<string, string>;
  /** Stops accepting requests; resolves once the running ones have ended. */
  end(): Promise<void>;
  /** Ends immediately. */
  stop(): Promise<void>;
}

/** `auto`: while no provider is configured. */
export function wantsDemo(config: Config): boolean {
  const { demo } = config.settings;
  return demo === 'on' || (demo === 'auto' && config.providers.length === 0);
}

/** Imported on demand, so that a gateway with real providers never loads it. */
export async function startDemo(): Promise<RunningDemo> {
  const { demoModelIds, startDemoServer } = await import('../../demo/demo-server.ts');
  const server = await startDemoServer();
  const provider = providerSchema.parse({
    id: demoProviderId,
    name: 'Sluice demo (built in, invents its answers)',
    baseUrl: server.baseUrl,
    credentials: [{ id: 'built-in' }],
    models: demoModelIds,
    serves: ['chat'],
    proxy: 'direct',
  });
  return {
    provider,
    secrets: new Map([[credentialSecretName(demoProviderId, 'built-in'), server.secret]]),
    end: server.end,
    stop: server.stop,
  };
}
