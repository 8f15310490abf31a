import { type Config, demoProviderId, type ProviderConfig, providerSchema } from '../contract/config.ts';
import { credentialSecretName } from '../secrets/secret-store.ts';

/** The demo upstream while it runs, as the provider it stands for. */
export interface RunningDemo {
  provider: ProviderConfig;
  /** By secret name, as for any provider. */
  secrets: ReadonlyMap<string, string>;
  /** Takes no more requests; resolves when those that run have ended. */
  end(): Promise<void>;
  /** At once. */
  stop(): Promise<void>;
}

/** `auto`: until there is a provider of one's own. */
export function wantsDemo(config: Config): boolean {
  const { demo } = config.settings;
  return demo === 'on' || (demo === 'auto' && config.providers.length === 0);
}

/** Loaded only when it is wanted: it is no part of a gateway with real providers. */
export async function startDemo(): Promise<RunningDemo> {
  const { demoModels, startDemoServer } = await import('../demo/demo-server.ts');
  const server = await startDemoServer();
  const provider = providerSchema.parse({
    id: demoProviderId,
    name: 'Sluice demo (built in, invents its answers)',
    baseUrl: server.baseUrl,
    credentials: [{ id: 'built-in' }],
    models: demoModels.map((model) => model.id),
    proxy: 'direct',
  });
  return {
    provider,
    secrets: new Map([[credentialSecretName(demoProviderId, 'built-in'), server.secret]]),
    end: server.end,
    stop: server.stop,
  };
}
