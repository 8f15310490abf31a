import type { Config, ProviderConfig } from '../contract/config.ts';
import { isSecretHeader } from '../contract/secret-header.ts';
import { hasUserInfo } from '../contract/secret-shape.ts';

/** A provider as it may be shown and exported: a file written by hand can hold what `checkProvider` would refuse. */
export function withoutSecrets(provider: ProviderConfig): ProviderConfig {
  return {
    ...provider,
    baseUrl: withoutUserInfo(provider.baseUrl),
    proxy: withoutUserInfo(provider.proxy),
    headers: Object.fromEntries(Object.entries(provider.headers).filter(([name]) => !isSecretHeader(name))),
  };
}

/** The configuration as it may be shown and exported. */
export function withoutSecretsInProviders(config: Config): Config {
  return { ...config, providers: config.providers.map(withoutSecrets) };
}

/** `system` and `direct`, which stand in place of a proxy's URL, pass as they are. */
function withoutUserInfo(address: string): string {
  if (!hasUserInfo(address)) return address;
  const url = new URL(address);
  url.username = '';
  url.password = '';
  return url.href;
}
