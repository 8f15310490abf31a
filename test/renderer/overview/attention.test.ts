import { describe, expect, it } from 'vitest';
import { concernsOf } from '../../../renderer/views/overview/attention.ts';
import type { ConfigViews } from '../../../server/contract/events.ts';
import type { KeyView, ProviderView } from '../../../server/contract/views.ts';
import { key, provider, snapshot, status } from '../events.ts';

const now = Date.UTC(2026, 10, 20);
const inDays = (days: number) => new Date(now + days * 86_400_000).toISOString();

describe('what needs attention', () => {
  it('is nothing where a provider and a key can be used', () => {
    expect(kinds({})).toEqual([]);
  });

  it.each<[string, string[], Partial<ProviderView>]>([
    ['cannot be used', ['provider-unusable'], { unusable: 'no secret' }],
    ['cannot list its models', ['provider-unlisted'], { discovery: { refreshedAt: null, problem: 'refused' } }],
    ['is off', ['no-provider'], { enabled: false, unusable: 'off' }],
    ['is the demo', ['demo-only'], { isDemo: true }],
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

  it('is a ledger that does not record, or lost rows', () => {
    const ledger = { ok: false, pending: 3, dropped: 0, lastError: 'disk full' };
    expect(kinds({ status: { ...status(1), ledger } })).toEqual(['ledger-broken']);
    expect(kinds({ status: { ...status(1), ledger: { ...ledger, ok: true, dropped: 2 } } })).toEqual([
      'ledger-dropped',
    ]);
  });

  it('begins with the worst, and leads to its mend', () => {
    const keys = [{ ...key('k1'), expiresAt: inDays(2) }];
    const providers = [{ ...provider('p1'), unusable: 'no secret' }];
    expect(concerns({ keys, providers }).map(({ isBad, href }) => [isBad, href])).toEqual([
      [true, '/providers/p1'],
      [false, '/keys'],
    ]);
  });
});

function concerns(views: Partial<ConfigViews>) {
  return concernsOf({ ...snapshot(), providers: [provider('p1')], keys: [key('k1')], ...views }, now);
}

function kinds(views: Partial<ConfigViews>) {
  return concerns(views).map(({ kind }) => kind);
}
