import type { ProviderView } from './provider-views.ts';

/** Why a provider receives no requests. */
export type ProviderBlock = 'off' | 'no-credential' | 'leads-back';

/** Null if the provider can receive requests. */
export function blockOf({
  enabled,
  unusable,
  credentials,
}: Pick<ProviderView, 'enabled' | 'unusable' | 'credentials'>): ProviderBlock | null {
  if (!enabled) return 'off';
  if (unusable === null) return null;
  const lacksCredential = credentials.length > 0 && !credentials.some((each) => each.enabled && each.hasSecret);
  return lacksCredential ? 'no-credential' : 'leads-back';
}
