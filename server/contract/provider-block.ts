import type { ProviderView } from './provider-views.ts';

/** Why no request goes to a provider; each face says it in its own language. */
export type ProviderBlock = 'off' | 'no-credential' | 'leads-back';

/** Null if requests may go there. The engine knows no fourth reason. */
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
