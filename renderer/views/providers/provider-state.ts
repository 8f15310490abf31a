import type { DiscoveryView, ProviderView } from '../../../server/contract/provider-views.ts';

/**
 * How a provider does, the most telling first. `blocked`: on, but no request goes there. `unlisted`: requests go there, but its
 * models could not be listed. `refused`, `cooling` and `degraded` are what requests found out (`ProviderHealthView`).
 * `failing`: the engine holds nothing against it, and yet its last requests failed. `waiting`: its models are not known yet.
 */
export type ProviderState =
  | { kind: 'off' }
  | { kind: 'no-credential' }
  | { kind: 'blocked' }
  | { kind: 'refused' | 'cooling' | 'degraded' }
  | { kind: 'unlisted'; discovery: DiscoveryView }
  | { kind: 'failing' }
  | { kind: 'waiting' }
  | { kind: 'ready' };

/** `lastFailed`: of all its requests of the last hour that had any. */
export function stateOf(provider: ProviderView, lastFailed: boolean): ProviderState {
  const { enabled, unusable, credentials, discovery, health } = provider;
  if (!enabled) return { kind: 'off' };
  const lacksCredential = credentials.length > 0 && !credentials.some((each) => each.enabled && each.hasSecret);
  if (unusable !== null) return lacksCredential ? { kind: 'no-credential' } : { kind: 'blocked' };
  if (health.state !== 'ok') return { kind: health.state };
  if (lastFailed) return { kind: 'failing' };
  if (discovery?.problem) return { kind: 'unlisted', discovery };
  if (discovery && discovery.refreshedAt === null) return { kind: 'waiting' };
  return { kind: 'ready' };
}
