/** What a person should look after, from what the engine tells of itself; the worst first. Pure. */
import type { ConfigViews } from '../../../server/contract/events.ts';
import type { KeyView, ProviderView } from '../../../server/contract/views.ts';

export type Concern = {
  isBad: boolean;
  /** Where it is mended. */
  href: string;
} & (
  | { kind: 'provider-unusable' | 'provider-unlisted'; name: string; reason: string }
  | { kind: 'ledger-broken'; reason: string }
  | { kind: 'ledger-dropped'; rows: number }
  | { kind: 'key-expired'; name: string }
  | { kind: 'key-expires'; name: string; atMs: number }
  | { kind: 'no-provider' | 'demo-only' | 'no-key' }
);

/** How long before it expires a key is spoken of. */
const noticeMs = 7 * 86_400_000;

export function concernsOf({ status, providers, keys }: ConfigViews, nowMs: number): Concern[] {
  return [
    ...providers.flatMap(concernsOfProvider),
    ...concernsOfLedger(status.ledger),
    ...concernsOfSetup(providers, keys),
    ...keys.flatMap((key) => concernsOfKey(key, nowMs)),
  ].toSorted((a, b) => Number(b.isBad) - Number(a.isBad));
}

function concernsOfProvider({ id, name, enabled, unusable, discovery, isDemo }: ProviderView): Concern[] {
  if (!enabled || isDemo) return [];
  const href = `/providers/${id}`;
  if (unusable) return [{ kind: 'provider-unusable', isBad: true, href, name, reason: unusable }];
  if (discovery?.problem) return [{ kind: 'provider-unlisted', isBad: false, href, name, reason: discovery.problem }];
  return [];
}

function concernsOfLedger({ ok, dropped, lastError }: ConfigViews['status']['ledger']): Concern[] {
  const href = '/requests';
  if (!ok) return [{ kind: 'ledger-broken', isBad: true, href, reason: lastError ?? '' }];
  return dropped > 0 ? [{ kind: 'ledger-dropped', isBad: false, href, rows: dropped }] : [];
}

function concernsOfSetup(providers: readonly ProviderView[], keys: readonly KeyView[]): Concern[] {
  const usable = providers.filter(({ enabled }) => enabled);
  const found: Concern[] = [];
  if (usable.length === 0) found.push({ kind: 'no-provider', isBad: true, href: '/providers' });
  else if (usable.every(({ isDemo }) => isDemo)) found.push({ kind: 'demo-only', isBad: false, href: '/providers' });
  if (keys.length === 0) found.push({ kind: 'no-key', isBad: true, href: '/keys' });
  return found;
}

function concernsOfKey({ id, name, enabled, expiresAt }: KeyView, nowMs: number): Concern[] {
  if (!enabled || expiresAt === null) return [];
  const atMs = Date.parse(expiresAt);
  const key = { name: name ?? id, href: '/keys' };
  if (atMs <= nowMs) return [{ kind: 'key-expired', isBad: true, ...key }];
  return atMs - nowMs < noticeMs ? [{ kind: 'key-expires', isBad: false, ...key, atMs }] : [];
}
