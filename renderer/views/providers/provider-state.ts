import type { DiscoveryView, ProviderView } from '../../../server/contract/provider-views.ts';

/**
 * The state of a provider, the most significant first. `blocked`: on, but receives no requests. `unlisted`: receives
 * requests, but its models could not be listed. `refused`, `cooling` and `degraded` result from requests
 * (`ProviderHealthView`). `failing`: its last requests failed, although the engine considers it healthy. `waiting`: its
 * models are not known yet.
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

/** `lastFailed`: whether all requests failed in the last hour that had any. */
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

/** Whether a person has to replace a credential, whatever else the provider can do. */
export function hasRefusedCredential({ enabled, credentials }: ProviderView): boolean {
  return enabled && credentials.some((each) => each.enabled && each.health.state === 'refused');
}
