/** Where what made a request fail can be mended. Pure. */
import type { RequestView } from '../../../server/contract/views.ts';
import type { Messages } from '../../messages/en.ts';

export interface Mend {
  kind: keyof Messages['requests']['mends'];
  href: string;
}

const byCode: Record<string, Mend> = {
  invalid_api_key: { kind: 'keys', href: '/keys' },
  key_disabled: { kind: 'keys', href: '/keys' },
  key_expired: { kind: 'keys', href: '/keys' },
  model_not_found: { kind: 'groups', href: '/groups' },
  no_healthy_provider: { kind: 'providers', href: '/providers' },
};

/** Null where it went well, or where only the program that asked can mend it. */
export function mendOf({ outcome, status, errorCode, provider, attempts }: RequestView): Mend | null {
  if (outcome !== 'error' && outcome !== 'stream-broken') return null;
  const failed = attempts.findLast(({ failure, error }) => failure !== null || error !== null)?.provider ?? provider;
  const isOfProvider = failed !== null && (status === null || status >= 500 || [401, 403, 404, 429].includes(status));
  if (isOfProvider) return { kind: 'provider', href: `/providers/${failed}` };
  return (errorCode !== null && byCode[errorCode]) || null;
}
