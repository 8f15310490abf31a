import { describe, expect, it } from 'vitest';
import { en } from '../../../../renderer/messages/en.ts';
import type { LiveRequest } from '../../../../renderer/state/live-request.ts';
import { curlOf } from '../../../../renderer/views/request/curl.ts';
import { longestGapOf, phasesOf } from '../../../../renderer/views/request/timeline.ts';
import { mendOf, whyFailed } from '../../../../renderer/views/requests/mend.ts';
import { filterOf, isShown, searchOf } from '../../../../renderer/views/requests/request-filter.ts';
import { hasGap, joined, noPages, withLatest } from '../../../../renderer/views/requests/request-pages.ts';
import { errorKinds } from '../../../../server/contract/errors.ts';
import type { RequestView } from '../../../../server/contract/request-views.ts';
import { attemptRecord } from '../../../support/attempt-record.ts';
import { finished } from '../../events.ts';

describe('the filter of the requests', () => {
  it('comes out of the address as it went in', () => {
    const filter = { outcome: 'error', model: 'a/b c', provider: 'p1', keyId: 'k1' } as const;
    expect(filterOf(new URLSearchParams(searchOf(filter)))).toEqual(filter);
    expect(searchOf({})).toBe('');
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
    [{ provider: 'main', keyId: 'k2' }, false],
  ] as const)('%o leaves a request in the list: %s', (filter, isLeft) => {
    expect(isShown({ ...finished('r1'), modelAsked: 'asked', keyId: 'k1' }, filter)).toBe(isLeft);
  });
});

describe('live requests and older pages', () => {
  const at = (id: string, startedAt: number): LiveRequest => ({ ...finished(id), startedAt });
  const pages = { older: [at('b', 2), at('a', 1)], next: null, sinceMs: 2 };

  it('are one list in which none stands twice', () => {
    expect(joined([at('c', 3), at('b', 2)], pages).map(({ id }) => id)).toEqual(['c', 'b', 'a']);
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

describe('the timeline of a request', () => {
  it('has the queue, the connection, the wait and the transfer one after the other', () => {
    expect(phasesOf(view({ queueMs: 1, totalMs: 91, attempts: [attempt] }))).toEqual([
      { name: 'queue', attempt: null, fromMs: 0, toMs: 1 },
      { name: 'connect', attempt: null, fromMs: 1, toMs: 5 },
      { name: 'wait', attempt: null, fromMs: 5, toMs: 51 },
      { name: 'transfer', attempt: null, fromMs: 51, toMs: 91 },
    ]);
  });

  it('has the first content where a stream told it, and the longest of the gaps', () => {
    const streamed = { ...attempt, firstContentMs: 70, longestGapMs: 12 };
    const phases = phasesOf(view({ queueMs: 1, totalMs: 91, attempts: [streamed] }));
    expect(phases.slice(-2)).toEqual([
      { name: 'content', attempt: null, fromMs: 51, toMs: 71 },
      { name: 'transfer', attempt: null, fromMs: 71, toMs: 91 },
    ]);
    expect(longestGapOf({ attempts: [{ ...streamed, longestGapMs: 3 }, attempt, streamed] })).toBe(12);
    expect(longestGapOf({ attempts: [attempt] })).toBeNull();
  });

  it('has the pause before an attempt that was waited for, and none before one that runs beside another', () => {
    const first = attemptRecord({ startedAt: 1_000, totalMs: 5 });
    const later = { ...attempt, startedAt: 1_255, connectMs: null };
    const pauseOf = (cause: 'retry' | 'hedge') =>
      phasesOf(view({ queueMs: null, totalMs: 345, attempts: [first, { ...later, cause }] })).filter(
        ({ name }) => name === 'pause',
      );
    expect(pauseOf('retry')).toEqual([{ name: 'pause', attempt: 2, fromMs: 5, toMs: 255 }]);
    expect(pauseOf('hedge')).toEqual([]);
  });

  it('has only a wait for an attempt that was never answered', () => {
    const silent = { ...attempt, connectMs: null, firstByteMs: null, totalMs: 30 };
    expect(phasesOf(view({ attempts: [silent] }))).toEqual([{ name: 'wait', attempt: null, fromMs: 1, toMs: 31 }]);
  });

  it('tells the attempts apart where there was more than one', () => {
    const attempts = [attemptRecord({ startedAt: 1_000, totalMs: 5 }), { ...attempt, startedAt: 1_005 }];
    const names = phasesOf(view({ queueMs: null, totalMs: 95, attempts })).map((phase) => [phase.attempt, phase.name]);
    expect(names).toEqual([
      [1, 'wait'],
      [2, 'connect'],
      [2, 'wait'],
      [2, 'transfer'],
    ]);
  });
});

describe('the mend of a request', () => {
  it.each<[string, Partial<RequestView>, string | null]>([
    ['that went well is none', {}, null],
    ['whose client left is none', { outcome: 'client-gone' }, null],
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
      'from a page that is not allowed is in the settings',
      { outcome: 'error', status: 403, errorCode: 'origin_not_allowed', provider: null },
      '/settings',
    ],
    ['that was malformed is with who asked', { outcome: 'error', status: 400, errorCode: null }, null],
  ])('%s', (_, more, href) => {
    expect(mendOf(view(more), false)?.href ?? null).toBe(href);
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

  it('is why Sluice refused it, and the limits of its key are its mend where it has some', () => {
    expect(whyFailed(refused, errors)).toBe('A budget of its key or group is spent.');
    expect(mendOf(refused, true)).toEqual({ kind: 'limits', href: '/keys' });
  });

  it('is left to the provider’s own answer where one was asked', () => {
    expect(whyFailed({ ...refused, attempts: [attempt] }, errors)).toBeNull();
    expect(whyFailed({ ...refused, errorCode: 'upstream_timeout', attempts: [attempt] }, errors)).toMatch(/in time/);
    expect(whyFailed({ ...refused, errorCode: 'something_else' }, errors)).toBeNull();
  });

  it('is known of every code with which Sluice refuses a request', () => {
    const ofControl = ['admin_token_required', 'invalid_command', 'not_found', 'conflict', 'locked', 'read_only'];
    const ofFields = ['unknown_url', 'method_not_allowed', 'invalid_value'];
    const codes = Object.entries(errorKinds).map(([name, { code }]) => code ?? name);
    const told = codes.filter((code) => !ofControl.includes(code) && !ofFields.includes(code));
    expect(Object.keys(errors).toSorted()).toEqual([...new Set(told)].toSorted());
  });
});

describe('the curl command', () => {
  const base = { baseUrl: 'http://127.0.0.1:4810/v1', body: null, keyPlaceholder: 'YOUR_KEY' };

  it('asks the same model on the same route', () => {
    expect(curlOf({ ...base, request: view({ stream: true }) })).toBe(
      [
        `curl 'http://127.0.0.1:4810/v1/chat/completions'`,
        `-H 'Authorization: Bearer YOUR_KEY'`,
        `-H 'Content-Type: application/json'`,
        `-d '{"model":"gpt-x","stream":true,"messages":[{"role":"user","content":"Hello"}]}'`,
      ].join(' \\\n  '),
    );
  });

  it('sends the body that was kept, quoted for a shell', () => {
    expect(curlOf({ ...base, body: `{"input":"it's"}`, request: view() })).toContain(`-d '{"input":"it'\\''s"}'`);
  });

  it('sends a form where the route takes one, and no body where it takes none', () => {
    const audio = view({ route: '/v1/audio/transcriptions', capability: 'transcription' });
    expect(curlOf({ ...base, request: audio })).toContain(`-F 'file=@audio.mp3' \\\n  -F 'model=gpt-x'`);
    const list = view({ method: 'GET', route: '/v1/models', capability: null });
    expect(curlOf({ ...base, request: list })).toBe(
      `curl 'http://127.0.0.1:4810/v1/models' \\\n  -H 'Authorization: Bearer YOUR_KEY'`,
    );
  });
});
