import type { Config, ProviderConfig } from '../contract/config.ts';
import { GatewayError } from '../contract/errors.ts';
import { leadsBack } from '../routing/compile.ts';
import { demoProviderId } from './demo-provider.ts';

/** Headers that carry secrets; those belong into credentials, which are kept apart and shown nowhere. */
const secretHeader = /^(authorization|proxy-authorization|cookie|.*api-?key|.*token|.*secret)$/i;

/** Refuses with `invalid_command` what the schema cannot see: loops, and secrets where they would lie open. */
export function checkProvider(provider: ProviderConfig, ownAddresses: ReadonlySet<string>): void {
  const refuse = (param: string, message: string) => {
    throw new GatewayError('invalid_command', message, { param });
  };
  if (provider.id === demoProviderId)
    refuse('id', `"${demoProviderId}" is the built-in demo provider: choose another id.`);
  const url = new URL(provider.baseUrl);
  if (leadsBack(url, ownAddresses))
    refuse(
      'baseUrl',
      `${url.host} is Sluice itself: requests would go round in circles. Give the service's own address.`,
    );
  if (url.username || url.password)
    refuse('baseUrl', 'The base URL holds a password. Leave it out and add it as a credential.');
  if (url.search || url.hash)
    refuse('baseUrl', 'The base URL must not have a query or a fragment; Azure’s api-version has a field of its own.');
  if (hasPassword(provider.proxy))
    refuse('proxy', 'The proxy’s URL holds a password. Set HTTPS_PROXY for Sluice and use "system".');
  const header = Object.keys(provider.headers).find((name) => secretHeader.test(name));
  if (header) refuse('headers', `The header "${header}" would lie open in the configuration: add it as a credential.`);
}

/** A provider as it may be shown and exported: a file written by hand can hold what `checkProvider` would refuse. */
export function withoutSecrets(provider: ProviderConfig): ProviderConfig {
  return {
    ...provider,
    baseUrl: withoutPassword(provider.baseUrl),
    proxy: hasPassword(provider.proxy) ? withoutPassword(provider.proxy) : provider.proxy,
    headers: Object.fromEntries(Object.entries(provider.headers).filter(([name]) => !secretHeader.test(name))),
  };
}

/** The configuration as it may be shown and exported. */
export function withoutSecretsInProviders(config: Config): Config {
  return { ...config, providers: config.providers.map(withoutSecrets) };
}

function hasPassword(proxy: string): boolean {
  const url = URL.parse(proxy);
  return url !== null && (url.username !== '' || url.password !== '');
}

function withoutPassword(address: string): string {
  const url = new URL(address);
  if (!url.username && !url.password) return address;
  url.username = '';
  url.password = '';
  return url.href;
}
