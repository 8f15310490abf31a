import type { Config, ProviderConfig } from '../../contract/config.ts';
import { hasUserInfo, isSecretHeader } from '../../contract/secret-shape.ts';

/** A provider for display and export. A file edited by hand may contain secrets that `checkProvider` would refuse. */
export function withoutSecrets(provider: ProviderConfig): ProviderConfig {
  return {
    ...provider,
    baseUrl: withoutUserInfo(provider.baseUrl),
    proxy: withoutUserInfo(provider.proxy),
    headers: Object.fromEntries(Object.entries(provider.headers).filter(([name]) => !isSecretHeader(name))),
  };
}

/** The configuration for display and export. */
export function withoutSecretsInProviders(config: Config): Config {
  return { ...config, providers: config.providers.map(withoutSecrets) };
}

/** Returns `system` and `direct`, which are not URLs, unchanged. */
function withoutUserInfo(address: string): string {
  if (!hasUserInfo(address)) return address;
  const url = new URL(address);
  url.username = '';
  url.password = '';
  return url.href;
}
