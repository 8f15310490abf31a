/** The secrets of a provider: where they may not stand, what is shown, and when they would go to another party. */
import { type Config, demoProviderId, type ProviderConfig } from '../../contract/config.ts';
import { controlError } from '../../contract/control-error.ts';
import type { ControlProblem } from '../../contract/control-problem.ts';
import type { ProviderView } from '../../contract/provider-views.ts';
import { hasUserInfo, isSecretHeader } from '../../contract/secret-shape.ts';
import { isVendorHost } from '../../providers/presets.ts';
import { isOwnAddress } from '../../routing/compile.ts';

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

/**
 * Throws `invalid_command` for errors that the schema cannot detect: loops, and secrets outside of credentials, where
 * they would be stored and shown in plain text.
 */
export function checkProvider(provider: ProviderConfig, ownAddresses: ReadonlySet<string>): void {
  const refuse = (param: string, problem: ControlProblem) => {
    throw controlError('invalid_command', problem, param);
  };
  if (provider.id === demoProviderId) refuse('id', { code: 'id-of-demo', id: demoProviderId });
  const url = new URL(provider.baseUrl);
  if (isOwnAddress(url, ownAddresses)) refuse('baseUrl', { code: 'leads-back', host: url.host });
  if (hasUserInfo(provider.baseUrl)) refuse('baseUrl', { code: 'password-in-base-url' });
  if (url.search || url.hash) refuse('baseUrl', { code: 'query-in-base-url' });
  if (hasUserInfo(provider.proxy)) refuse('proxy', { code: 'password-in-proxy' });
  if (provider.certificate && isVendorHost(url.hostname))
    refuse('certificate', { code: 'certificate-of-vendor', host: url.hostname });
  const header = Object.keys(provider.headers).find(isSecretHeader);
  if (header) refuse('headers', { code: 'secret-in-header', header });
}

/** Credentials, as `provider/credential`, whose secret must be entered. */
export function missingSecrets(providers: readonly ProviderView[]): string[] {
  return providers.flatMap(({ id, credentials }) =>
    credentials.filter(({ hasSecret }) => !hasSecret).map((credential) => `${id}/${credential.id}`),
  );
}

/**
 * Whether an imported file changes a provider's address, routes it through another proxy, or trusts another certificate. Stored credentials would
 * then be sent to another party, so they are deleted and must be entered again.
 */
export function isRedirected(before: ProviderConfig, after: ProviderConfig): boolean {
  const isOtherAddress = addressOf(before.baseUrl) !== addressOf(after.baseUrl);
  const isOtherProxy = before.proxy !== after.proxy && !['system', 'direct'].includes(after.proxy);
  const isOtherCertificate = after.certificate !== undefined && before.certificate !== after.certificate;
  return isOtherAddress || isOtherProxy || isOtherCertificate;
}

/** The providers whose address or proxy changes, in their state before. */
export function redirectedProviders(before: Config, after: Config): ProviderConfig[] {
  return before.providers.filter((own) => {
    const now = after.providers.find(({ id }) => id === own.id);
    return now !== undefined && isRedirected(own, now);
  });
}

/** The providers' credentials as `provider/credential`. */
export function credentialPaths(providers: readonly ProviderConfig[]): string[] {
  return providers.flatMap(({ id, credentials }) => credentials.map((credential) => `${id}/${credential.id}`));
}

function addressOf(baseUrl: string): string {
  return new URL(baseUrl).href.replace(/(?<!\/)\/+$/, '');
}
