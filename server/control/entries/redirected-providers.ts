import type { Config, ProviderConfig } from '../../contract/config.ts';

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
