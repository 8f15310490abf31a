import { describe, expect, it } from 'vitest';
import type { KeyView } from '../../../server/contract/access-views.ts';
import { concernsOf } from '../../../server/contract/attention.ts';
import type { ConfigViews } from '../../../server/contract/events.ts';
import type { CooldownView, ProviderView } from '../../../server/contract/provider-views.ts';
import { key, provider, snapshot, status } from '../../renderer/events.ts';
import { well, wellProvider } from '../../support/stand-ins.ts';

const now = Date.UTC(2026, 10, 20);
/** A provider that still serves requests with a credential other than this one. */
function partly(state: CooldownView['state'], failure: CooldownView['failure']): Partial<ProviderView> {
  const health: CooldownView = { ...well, state, failure };
  const credential = { id: 'c1', label: null, reference: 'keychain', enabled: true, hasSecret: true, health };
  return { credentials: [credential], health: { ...wellProvider, state: 'degraded', failure } };
}

const inDays = (days: number) => new Date(now + days * 86_400_000).toISOString();

describe('what needs attention', () => {
  it('is nothing where a provider and a key can be used', () => {
    expect(kinds({})).toEqual([]);
  });

  it.each<[string, string[], Partial<ProviderView>]>([
    ['cannot be used', ['provider leads-back'], { unusable: 'no secret' }],
    [
      'cannot list its models',
      ['provider unlisted'],
      { discovery: { refreshedAt: null, problem: 'refused', finding: { code: 'way-failed', detail: 'refused' } } },
    ],
    [
      'is left alone',
      ['provider cooling'],
      { health: { ...wellProvider, state: 'cooling', failure: 'transient', until: now + 1 } },
    ],
    [
      'has not answered since its cooldown',
      ['provider failing'],
      { health: { ...wellProvider, state: 'cooling', failure: 'transient', until: now } },
    ],
    [
      'was tried by nobody since a person reset it',
      ['provider failing'],
      { health: { ...wellProvider, failure: 'transient', failures: 3 } },
    ],
    [
      'refuses all credentials',
      ['provider refused'],
      { health: { ...wellProvider, state: 'refused', failure: 'credential' } },
    ],
    ['refuses one credential', ['credential refused'], partly('refused', 'credential')],
    ['has a credential without quota', ['credential quota'], partly('cooling', 'quota')],
    ['has a credential at its rate limit', [], partly('cooling', 'rate-limit')],
    ['is off', ['no-provider'], { enabled: false, unusable: 'off' }],
    ['is the demo', [], { isDemo: true }],
  ])('is said of a provider that %s', (_, expected, more) => {
    expect(kinds({ providers: [{ ...provider('p1'), ...more }] })).toEqual(expected);
  });

  it.each<[string, string[], Partial<KeyView>]>([
    ['has expired', ['key-expired'], { expiresAt: inDays(-1) }],
    ['expires within a week', ['key-expires'], { expiresAt: inDays(6) }],
    ['expires later', [], { expiresAt: inDays(8) }],
    ['is disabled, though expired', [], { expiresAt: inDays(-1), enabled: false }],
  ])('is said of a key that %s', (_, expected, more) => {
    expect(kinds({ keys: [{ ...key('k1'), ...more }] })).toEqual(expected);
  });

  it('is a configuration that could not be used at the start', () => {
    const withReplaced = (by: 'backup' | 'nothing') =>
      concerns({ status: { ...status(1), configReplaced: { by, movedTo: '/data/config.broken-1.json' } } });
    expect(withReplaced('backup')).toMatchObject([
      { kind: 'config-restored', isBad: false, href: '/settings', movedTo: '/data/config.broken-1.json' },
    ]);
    expect(withReplaced('nothing')).toMatchObject([{ kind: 'config-lost', isBad: true }]);
  });

  it('is a standstill of the last day that a request caused', () => {
    const request = { id: 'req_1', keyId: 'k1', route: '/v1/chat/completions' };
    const hoursAgo = (hours: number, cause: typeof request | null) => {
      const standstill = { at: now - hours * 3_600_000, ms: 1_200, request: cause, count: 1 };
      return concerns({ status: { ...status(1), standstill } });
    };
    expect(hoursAgo(1, request)).toMatchObject([{ kind: 'standstill', href: '/requests/req_1', ms: 1_200 }]);
    expect(hoursAgo(25, request)).toEqual([]);
    expect(hoursAgo(1, null)).toEqual([]);
  });

  it('is a ledger that does not record, or lost rows', () => {
    const ledger = {
      ok: false,
      pending: 3,
      spooled: 0,
      dropped: 0,
      lastError: 'disk full',
      budgetsError: null,
      replaced: null,
    };
    expect(kinds({ status: { ...status(1), ledger } })).toEqual(['ledger-broken']);
    const waits = { ...ledger, pending: 9, spooled: 7, dropped: 2 };
    expect(concerns({ status: { ...status(1), ledger: waits } })).toMatchObject([
      { kind: 'ledger-waits', isBad: true, rows: 7, reason: 'disk full' },
      { kind: 'ledger-dropped', rows: 2 },
    ]);
    expect(kinds({ status: { ...status(1), ledger: { ...ledger, ok: true, dropped: 2 } } })).toEqual([
      'ledger-dropped',
    ]);
    const setAside = { rows: 2, file: '/data/set-aside-requests.jsonl' };
    expect(concerns({ status: { ...status(1), ledger: { ...ledger, ok: true, setAside } } })).toMatchObject([
      { kind: 'ledger-refuses', setAside },
    ]);
    const replaced = { movedTo: '/data/ledger.sqlite.set-aside-1', reason: 'malformed', budgetsAreLost: false };
    expect(kinds({ status: { ...status(1), ledger: { ...ledger, ok: true, replaced } } })).toEqual(['ledger-replaced']);
  });

  it('is that budgets were lost or cannot be kept, to those who have one', () => {
    const replaced = { movedTo: null, reason: 'malformed', budgetsAreLost: true };
    const ledger = { ok: true, pending: 0, spooled: 0, dropped: 0, lastError: null, budgetsError: null, replaced };
    const lost = { status: { ...status(1), ledger } };
    expect(kinds(lost)).toEqual(['ledger-replaced']);
    const budget = { unit: 'usd', amount: 10, per: 'day', hard: true } as const;
    const meter = { kind: 'budget', budget, amount: 10, used: 0, unpriced: 0, pace: null, resetsAt: null } as const;
    expect(kinds({ ...lost, keys: [{ ...key('k1'), limitUse: [meter] }] })).toEqual([
      'budgets-lost',
      'ledger-replaced',
    ]);
  });

  it('is a program that comes without a valid key, a line for each reason', () => {
    const refusal = { keyId: null, requests: 2, lastAt: 0, lastClient: 'curl/8.6.0' };
    const refusals = ['missing_key', 'invalid_api_key'].map((reason) => ({ ...refusal, reason }));
    const overLimit = { ...refusal, keyId: 'k1', reason: 'rate_limit_exceeded' };
    expect(kinds({ refusals: [...refusals, overLimit] })).toEqual(['refused', 'refused']);
  });

  it.each<[string, [string, boolean][], { used: number; hard: boolean; unpriced?: number; notifyAt?: number[] }]>([
    ['is nearly spent', [['key-budget', false]], { used: 8, hard: true }],
    ['is spent and refuses', [['key-budget', true]], { used: 10, hard: true }],
    ['is spent and only tells', [['key-budget', false]], { used: 12, hard: false }],
    ['has enough left', [], { used: 7.9, hard: true }],
    ['has reached the percentage that it names', [['key-budget', false]], { used: 5, hard: true, notifyAt: [90, 50] }],
    ['names a later percentage', [], { used: 8, hard: true, notifyAt: [90] }],
    ['does not see what some requests cost', [['key-unpriced', false]], { used: 0, hard: true, unpriced: 2 }],
  ])('is said of a budget that %s', (_, expected, { used, hard, unpriced = 0, notifyAt }) => {
    const budget = { unit: 'usd' as const, amount: 10, per: 'day' as const, hard, ...(notifyAt && { notifyAt }) };
    const limitUse = [
      { kind: 'requests', budget: null, amount: 1, used: 1, unpriced: 0, pace: null, resetsAt: null } as const,
      { kind: 'budget', budget, amount: 10, used, unpriced, pace: null, resetsAt: null } as const,
    ];
    expect(concerns({ keys: [{ ...key('k1'), limitUse }] }).map(({ kind, isBad }) => [kind, isBad])).toEqual(expected);
  });

  it('is no setup that the guide leads through', () => {
    const none = { providers: [], keys: [], keyCount: 0 };
    const { settings } = status(1);
    expect(kinds(none)).toEqual(['no-provider', 'no-key']);
    expect(kinds({ ...none, status: { ...status(1), settings: { ...settings, guide: 'open' } } })).toEqual([]);
  });

  it('begins with the worst, and leads to its mend', () => {
    const keys = [{ ...key('k1'), expiresAt: inDays(2) }];
    const providers = [{ ...provider('p1'), unusable: 'no secret' }];
    expect(concerns({ keys, providers }).map(({ isBad, href }) => [isBad, href])).toEqual([
      [true, '/providers/p1'],
      [false, '/keys?key=k1'],
    ]);
  });
});

function concerns(views: Partial<ConfigViews>) {
  return concernsOf(snapshot({ providers: [provider('p1')], keys: [key('k1')], ...views }), now);
}

function kinds(views: Partial<ConfigViews>) {
  return concerns(views).map((concern) =>
    'condition' in concern ? `${concern.kind} ${concern.condition}` : concern.kind,
  );
}
