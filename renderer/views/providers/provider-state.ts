import type { ProviderView } from '../../../server/contract/views.ts';

/**
 * How a provider does, the most telling first. `blocked`: on, but no request goes there. `unlisted`: requests go there, but its
 * models could not be learnt. `waiting`: its models are not known yet.
 */
export type ProviderState =
  | { kind: 'off' }
  | { kind: 'no-credential' }
  | { kind: 'blocked'; reason: string }
  | { kind: 'unlisted'; reason: string }
  | { kind: 'waiting' }
  | { kind: 'ready' };

export function stateOf(provider: ProviderView): ProviderState {
  const { enabled, unusable, credentials, discovery } = provider;
  if (!enabled) return { kind: 'off' };
  const lacksCredential = credentials.length > 0 && !credentials.some((each) => each.enabled && each.hasSecret);
  if (unusable !== null) return lacksCredential ? { kind: 'no-credential' } : { kind: 'blocked', reason: unusable };
  if (discovery?.problem) return { kind: 'unlisted', reason: discovery.problem };
  if (discovery && discovery.refreshedAt === null) return { kind: 'waiting' };
  return { kind: 'ready' };
}
