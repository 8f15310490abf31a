/** Concerns that a person should look after, derived from the engine's state: Home lists them, and the panel says how many. Pure. */

import type { GroupView, KeyView } from './access-views.ts';
import type { ConfigViews } from './events.ts';
import { type CountedScope, expiryConcern, isNearlySpent, isUnpriced, type LimitMeter } from './limits.ts';
import { type Condition, toneOf, troublesOf } from './provider-condition.ts';
import type { CredentialView, ProviderView } from './provider-views.ts';
import type { SharedCountsView } from './replica-limits.ts';
import type { RefusalView } from './request-views.ts';
import type { SetAsideView, StandstillView } from './status-views.ts';
import { dayMs } from './units.ts';

export type Concern = {
  isBad: boolean;
  /** Where it can be fixed. */
  href: string;
} & (
  | { kind: 'provider'; provider: ProviderView; condition: Condition }
  | { kind: 'credential'; provider: ProviderView; condition: Condition; credential: CredentialView }
  | { kind: 'config-restored' | 'config-lost'; movedTo: string | null }
  | { kind: 'counts-away'; counts: SharedCountsView; isClosed: boolean }
  | { kind: 'ledger-broken'; reason: string }
  | { kind: 'ledger-waits'; rows: number; reason: string }
  | { kind: 'budgets-unwritten'; reason: string }
  | { kind: 'ledger-dropped'; rows: number }
  | { kind: 'ledger-refuses'; setAside: SetAsideView }
  | { kind: 'ledger-replaced'; movedTo: string | null; reason: string }
  | { kind: 'refused'; refusal: RefusalView }
  | { kind: 'standstill'; at: number; ms: number; request: NonNullable<StandstillView['request']> }
  | { kind: 'key-expired'; name: string }
  | { kind: 'key-expires'; name: string; atMs: number }
  | {
      kind: 'key-budget' | 'group-budget' | 'key-unpriced' | 'group-unpriced';
      id: string;
      name: string;
      meter: LimitMeter;
    }
  | { kind: 'no-provider' | 'no-key' | 'budgets-lost' }
);

/** Of the keys, and of the groups, that are not reported: how many of those that need attention are looked at one by one. */
export const mostAsked = 100;

/** The worst first. */
export function concernsOf(views: ConfigViews, nowMs: number): Concern[] {
  const { status, providers, keys, keyCount, groups, refusals } = views;
  // The same requests count against both budgets.
  const saidOfKey = new Set(keys.filter((key) => concernsOfPrices('key', key).length > 0).map(({ group }) => group));
  return [
    ...providers.flatMap((provider) => concernsOfProvider(provider, nowMs)),
    ...concernsOfConfig(status.configReplaced),
    ...concernsOfLedger(status.ledger),
    ...concernsOfSharedCounts(status),
    ...concernsOfBudgetSums(views),
    ...concernsOfStandstill(status.standstill, nowMs),
    // The guide's steps cover them.
    ...(status.settings.guide === 'open' ? [] : concernsOfSetup(providers, keyCount)),
    ...keys.flatMap((key) => concernsOfKey(key, nowMs)),
    ...refusals
      .filter(({ keyId }) => keyId === null)
      .map((refusal): Concern => ({ kind: 'refused', isBad: false, href: '/requests', refusal })),
    ...keys.flatMap((key) => concernsOfBudgets('key', key, hrefOfKey(key))),
    ...keys.flatMap((key) => concernsOfPrices('key', key)),
    ...groups.flatMap((group) => concernsOfBudgets('group', group, `/groups/${group.id}`)),
    ...groups.filter(({ id }) => !saidOfKey.has(id)).flatMap((group) => concernsOfPrices('group', group)),
  ].toSorted((a, b) => Number(b.isBad) - Number(a.isBad));
}

function concernsOfProvider(provider: ProviderView, nowMs: number): Concern[] {
  const href = `/providers/${provider.id}`;
  return troublesOf(provider, nowMs).map(({ condition, credential }): Concern => {
    const trouble = { isBad: toneOf[condition] === 'bad', href, provider, condition };
    return credential === null ? { kind: 'provider', ...trouble } : { kind: 'credential', ...trouble, credential };
  });
}

function concernsOfConfig(replaced: ConfigViews['status']['configReplaced']): Concern[] {
  if (!replaced) return [];
  const { by, movedTo } = replaced;
  if (by === 'backup') return [{ kind: 'config-restored', isBad: false, href: '/settings', movedTo }];
  return [{ kind: 'config-lost', isBad: true, href: '/settings', movedTo }];
}

function concernsOfLedger({ ok, spooled, dropped, setAside, ...ledger }: ConfigViews['status']['ledger']): Concern[] {
  const href = '/requests';
  const { lastError, replaced } = ledger;
  const reason = lastError ?? '';
  if (!ok && spooled === 0) return [{ kind: 'ledger-broken', isBad: true, href, reason }];
  const concerns: Concern[] = ok ? [] : [{ kind: 'ledger-waits', isBad: true, href, rows: spooled, reason }];
  if (dropped > 0) concerns.push({ kind: 'ledger-dropped', isBad: false, href, rows: dropped });
  if (setAside) concerns.push({ kind: 'ledger-refuses', isBad: false, href, setAside });
  if (replaced) {
    concerns.push({ kind: 'ledger-replaced', isBad: false, href, movedTo: replaced.movedTo, reason: replaced.reason });
  }
  return concerns;
}

function concernsOfSharedCounts({ sharedCounts, settings }: ConfigViews['status']): Concern[] {
  if (!sharedCounts || sharedCounts.problem === null) return [];
  const isClosed = settings.sharedCounts.hardBudgets === 'closed';
  return [
    {
      kind: 'counts-away',
      isBad: true,
      href: '/settings?section=serving&level=advanced',
      counts: sharedCounts,
      isClosed,
    },
  ];
}

/** Irrelevant if there are no budgets. */
function concernsOfBudgetSums({ status, keys, groups }: ConfigViews): Concern[] {
  const hasBudget = [...keys, ...groups].some(({ limitUse }) => limitUse.some(({ budget }) => budget !== null));
  if (!hasBudget) return [];
  const href = '/keys';
  const { replaced, budgetsError } = status.ledger;
  const concerns: Concern[] = replaced?.budgetsAreLost ? [{ kind: 'budgets-lost', isBad: true, href }] : [];
  if (budgetsError !== null) concerns.push({ kind: 'budgets-unwritten', isBad: true, href, reason: budgetsError });
  return concerns;
}

/** How long it is reported. */
const standstillShownMs = dayMs;

/** Of one that no request caused, such as a busy machine's, only the log tells: nobody here can do anything about it. */
function concernsOfStandstill(standstill: StandstillView | null, nowMs: number): Concern[] {
  if (!standstill?.request || nowMs - standstill.at > standstillShownMs) return [];
  const { at, ms, request } = standstill;
  return [{ kind: 'standstill', isBad: false, href: `/requests/${request.id}`, at, ms, request }];
}

function concernsOfSetup(providers: readonly ProviderView[], keyCount: number): Concern[] {
  const usable = providers.filter(({ enabled }) => enabled);
  const concerns: Concern[] = [];
  if (usable.length === 0) concerns.push({ kind: 'no-provider', isBad: true, href: '/providers?add' });
  if (keyCount === 0) concerns.push({ kind: 'no-key', isBad: true, href: '/keys' });
  return concerns;
}

function concernsOfKey(view: KeyView, nowMs: number): Concern[] {
  const concern = expiryConcern(view, nowMs);
  if (concern === null) return [];
  const key = { name: view.name ?? view.id, href: hrefOfKey(view) };
  if (concern === 'expired') return [{ kind: 'key-expired', isBad: true, ...key }];
  return [{ kind: 'key-expires', isBad: false, ...key, atMs: Date.parse(view.expiresAt ?? '') }];
}

/** Its form. */
const hrefOfKey = ({ id }: Pick<KeyView, 'id'>) => `/keys?key=${encodeURIComponent(id)}`;

function concernsOfBudgets(
  scope: CountedScope,
  { id, name, limitUse }: Pick<KeyView | GroupView, 'id' | 'name' | 'limitUse'>,
  href: string,
): Concern[] {
  return limitUse.filter(isNearlySpent).map((meter): Concern => {
    const isBad = meter.budget?.hard === true && meter.used >= meter.amount;
    return { kind: `${scope}-budget`, isBad, href, id, name: name ?? id, meter };
  });
}

function concernsOfPrices(
  scope: CountedScope,
  { id, name, limitUse }: Pick<KeyView | GroupView, 'id' | 'name' | 'limitUse'>,
): Concern[] {
  const owner = { isBad: false, href: '/settings?section=prices', id, name: name ?? id };
  return limitUse.filter(isUnpriced).map((meter): Concern => ({ kind: `${scope}-unpriced`, ...owner, meter }));
}
