import { type Config, demoProviderId, type ProviderConfig } from '../contract/config.ts';
import { controlError } from '../contract/control-error.ts';
import type { ControlProblem } from '../contract/control-problem.ts';
import { isSecretHeader } from '../contract/secret-header.ts';
import { hasUserInfo } from '../contract/secret-shape.ts';
import { leadsBack } from '../routing/compile.ts';

/**
 * Refuses with `invalid_command` what the schema cannot see: loops, and secrets where they would lie open. Those belong into
 * credentials, which are kept apart and shown nowhere.
 */
export function checkProvider(provider: ProviderConfig, ownAddresses: ReadonlySet<string>): void {
  const refuse = (param: string, problem: ControlProblem) => {
    throw controlError('invalid_command', problem, param);
  };
  if (provider.id === demoProviderId) refuse('id', { code: 'id-of-demo', id: demoProviderId });
  const url = new URL(provider.baseUrl);
  if (leadsBack(url, ownAddresses)) refuse('baseUrl', { code: 'leads-back', host: url.host });
  if (hasUserInfo(provider.baseUrl)) refuse('baseUrl', { code: 'password-in-base-url' });
  if (url.search || url.hash) refuse('baseUrl', { code: 'query-in-base-url' });
  if (hasUserInfo(provider.proxy)) refuse('proxy', { code: 'password-in-proxy' });
  const header = Object.keys(provider.headers).find(isSecretHeader);
  if (header) refuse('headers', { code: 'secret-in-header', header });
}

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
