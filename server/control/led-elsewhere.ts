import type { Config, ProviderConfig } from '../contract/config.ts';

/**
 * A credential is for the service it was entered for. Where somebody's file sends requests to another address, or through a
 * proxy it names, whatever was there would be handed to a stranger: each has to be entered anew.
 */
export function isLedElsewhere(before: ProviderConfig, after: ProviderConfig): boolean {
  const isOtherAddress = addressOf(before.baseUrl) !== addressOf(after.baseUrl);
  const isOtherProxy = before.proxy !== after.proxy && !['system', 'direct'].includes(after.proxy);
  return isOtherAddress || isOtherProxy;
}

/** Those that are in both, as they were. */
export function providersLedElsewhere(before: Config, after: Config): ProviderConfig[] {
  return before.providers.filter((own) => {
    const now = after.providers.find(({ id }) => id === own.id);
    return now !== undefined && isLedElsewhere(own, now);
  });
}

/** The credentials of providers, as `provider/credential`. */
export function credentialPaths(providers: readonly ProviderConfig[]): string[] {
  return providers.flatMap(({ id, credentials }) => credentials.map((credential) => `${id}/${credential.id}`));
}

function addressOf(baseUrl: string): string {
  return new URL(baseUrl).href.replace(/(?<!\/)\/+$/, '');
}
