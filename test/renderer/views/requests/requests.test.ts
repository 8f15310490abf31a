import { describe, expect, it } from 'vitest';
import { en } from '../../../../renderer/messages/en/en.ts';
import { explainFailure, fixOfRequest } from '../../../../renderer/state/requests/failures.ts';
import type { LiveRequest } from '../../../../renderer/state/requests/live-request.ts';
import { filterOf, searchOf } from '../../../../renderer/state/requests/request-filter.ts';
import { hasGap, joinPages, noPages, withLatest } from '../../../../renderer/views/requests/list/use-requests.ts';
import { errorKinds } from '../../../../server/contract/errors.ts';
import { fitsFilter } from '../../../../server/contract/request-filter.ts';
import type { RequestView } from '../../../../server/contract/request-views.ts';
import { attemptRecord } from '../../../support/stand-ins.ts';
import { finished } from '../../events.ts';

describe('the filter of the requests', () => {
  it('comes out of the address as it went in', () => {
    const filter = { outcome: 'error', model: 'a/b c', provider: 'p1', keyId: 'k1' } as const;
    expect(filterOf(new URLSearchParams(searchOf(filter)))).toEqual(filter);
    expect(searchOf({})).toBe('');
  });

  it('comes out with all that can be chosen', () => {
    const filter = {
      search: 'rate limit',
      outcome: 'failed',
      status: '4xx',
      groupId: 'g1',
      client: 'aider/0.86 &x=1',
      capability: 'chat',
      range: '24h',
      sinceMs: 5,
      untilMs: 9,
      sort: { by: 'first-byte', isAscending: true },
    } as const;
    expect(filterOf(new URLSearchParams(searchOf(filter)))).toEqual(filter);
    expect(searchOf({ sort: { by: 'cost', isAscending: false } })).toBe('?sort=-cost');
    expect(filterOf(new URLSearchParams('status=abc&since=-1&until=x&range=9d&sort=-name'))).toEqual({});
  });

  it('passes over an outcome that there is not', () => {
    expect(filterOf(new URLSearchParams('outcome=splendid'))).toEqual({});
  });

  it.each([
    [{ outcome: 'ok' }, true],
    [{ outcome: 'running' }, false],
    [{ model: 'asked' }, true],
    [{ model: 'gpt-x' }, true],
    [{ model: 'other' }, false],
    [{ outcome: 'failed' }, false],
    [{ status: '2xx' }, true],
    [{ status: '404' }, false],
    [{ capability: 'chat' }, true],
    [{ groupId: 'g1' }, false],
    [{ client: 'aider' }, false],
    [{ sinceMs: 1 }, true],
    [{ untilMs: 1 }, false],
    [{ provider: 'main', keyId: 'k2' }, false],
  ] as const)('%o leaves a request in the list: %s', (filter, isLeft) => {
    expect(fitsFilter({ ...finished('r1'), modelAsked: 'asked', keyId: 'k1' }, filter)).toBe(isLeft);
  });
});

describe('live requests and older pages', () => {
  const at = (id: string, startedAt: number): LiveRequest => ({ ...finished(id), startedAt });
  const pages = { older: [at('b', 2), at('a', 1)], next: null, sinceMs: 2, sortedOf: null, repairedPercent: null };

  it('are one list in which none stands twice', () => {
    expect(joinPages([at('c', 3), at('b', 2)], pages).map(({ id }) => id)).toEqual(['c', 'b', 'a']);
  });

  it('have a gap once a live request was dropped that is on no page', () => {
    expect(hasGap([at('c', 3), at('b', 2)], pages)).toBe(false);
    expect(hasGap([at('d', 4), at('c', 3)], pages)).toBe(true);
    expect(hasGap([at('d', 4)], noPages)).toBe(false);
  });

  it('stand still while they are read, but for their end', () => {
    const held = [{ ...at('a', 1), outcome: null }];
    expect(withLatest(held, [at('b', 2), at('a', 1)])).toEqual([at('a', 1)]);
  });
});

const attempt = attemptRecord({ credential: null, startedAt: 1_001, connectMs: 4, firstByteMs: 50, totalMs: 90 });

function view(more: Partial<RequestView> = {}): RequestView {
  return { ...finished('r1'), seq: 1, startedAt: 1_000, ...more };
}

describe('the fix of a request', () => {
  it.each<[string, Partial<RequestView>, string | null]>([
    ['that went well is none', {}, null],
    ['whose client disconnected is none', { outcome: 'client-gone' }, null],
    [
      'with a disabled key is at the keys',
      { outcome: 'error', status: 401, errorCode: 'key_disabled', provider: null },
      '/keys',
    ],
    [
      'that no provider could take is at the providers',
      { outcome: 'error', status: 503, errorCode: 'no_healthy_provider', provider: null },
      '/providers',
    ],
    [
      'that its provider failed is at the provider',
      {
        outcome: 'error',
        status: 502,
        errorCode: 'upstream_unreachable',
        provider: null,
        attempts: [{ ...attempt, failure: 'transient' }],
      },
      '/providers/main',
    ],
    [
      'with a model that its group has not is at the group',
      { outcome: 'error', status: 404, errorCode: 'model_not_found', provider: null, groupId: 'team' },
      '/groups/team',
    ],
    [
      'that a budget stands against is at the group',
      { outcome: 'error', status: 429, errorCode: 'insufficient_quota', provider: null, groupId: 'team' },
      '/groups/team',
    ],
    [
      'for a model without a price is at the prices',
      { outcome: 'error', status: 403, errorCode: 'price_unknown', provider: null, modelAsked: 'a/b' },
      '/settings?section=prices&model=a%2Fb',
    ],
    [
      'from a page that is not allowed is in that part of the settings',
      { outcome: 'error', status: 403, errorCode: 'origin_not_allowed', provider: null },
      '/settings?section=access',
    ],
    ['that was malformed is with who asked', { outcome: 'error', status: 400, errorCode: null }, null],
  ])('%s', (_, more, href) => {
    expect(fixOfRequest(view(more), false)?.href ?? null).toBe(href);
  });
});

describe('what is said of a request that failed', () => {
  const refused = view({
    outcome: 'error',
    status: 429,
    errorCode: 'insufficient_quota',
    provider: null,
    attempts: [],
  });
  const { errors } = en.requests;

  it('is why Sluice refused it, and the limits of its key are its fix where it has some', () => {
    expect(explainFailure(refused, errors)).toBe('A budget of the key or its group is used up.');
    expect(fixOfRequest(refused, true)).toEqual({ kind: 'limits', href: '/keys' });
  });

  it('is left to the provider’s own answer where one was asked', () => {
    for (const errorCode of ['insufficient_quota', 'rate_limit_exceeded']) {
      const asked = { ...refused, errorCode, provider: 'main', attempts: [attempt] };
      expect(explainFailure(asked, errors)).toBeNull();
      expect(fixOfRequest(asked, true)?.kind).toBe('provider');
    }
    expect(explainFailure({ ...refused, errorCode: 'upstream_timeout', attempts: [attempt] }, errors)).toMatch(
      /in time/,
    );
    expect(explainFailure({ ...refused, errorCode: 'something_else' }, errors)).toBeNull();
  });

  it('is known of every code with which Sluice refuses a request', () => {
    const ofControl = [
      'admin_token_required',
      'invalid_command',
      'not_found',
      'conflict',
      'locked',
      'read_only',
      'forbidden',
      'not_signed_in',
      'sign_in_failed',
    ];
    const ofFields = ['unknown_url', 'method_not_allowed', 'invalid_value'];
    const codes = Object.entries(errorKinds).map(([name, { code }]) => code ?? name);
    const told = codes.filter((code) => !ofControl.includes(code) && !ofFields.includes(code));
    expect(Object.keys(errors).toSorted()).toEqual([...new Set(told)].toSorted());
  });
});
