import { describe, expect, it } from 'vitest';
import type { LiveRequest } from '../../../renderer/state/live-request.ts';
import { curlOf } from '../../../renderer/views/requests/curl.ts';
import { mendOf } from '../../../renderer/views/requests/mend.ts';
import { filterOf, isShown, searchOf } from '../../../renderer/views/requests/request-filter.ts';
import { hasGap, joined, noPages, withLatest } from '../../../renderer/views/requests/request-pages.ts';
import { phasesOf } from '../../../renderer/views/requests/timeline.ts';
import type { AttemptRecord } from '../../../server/contract/ledger.ts';
import type { RequestView } from '../../../server/contract/views.ts';
import { finished } from '../events.ts';

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

const attempt: AttemptRecord = {
  provider: 'main',
  credential: null,
  model: 'gpt-x',
  startedAt: 1_001,
  connectMs: 4,
  firstByteMs: 50,
  totalMs: 90,
  status: 200,
  failure: null,
  error: null,
  upstreamRequestId: null,
};

function view(more: Partial<RequestView> = {}): RequestView {
  return { ...finished('r1'), seq: 1, startedAt: 1_000, ...more };
}

describe('the timeline of a request', () => {
  it('has the queue, the connection, the wait and the transfer one after the other', () => {
    expect(phasesOf(view({ queueMs: 1, totalMs: 91, attempts: [attempt] }))).toEqual([
      { name: 'queue', fromMs: 0, toMs: 1 },
      { name: 'connect', fromMs: 1, toMs: 5 },
      { name: 'wait', fromMs: 5, toMs: 51 },
      { name: 'transfer', fromMs: 51, toMs: 91 },
    ]);
  });

  it('has only a wait for an attempt that was never answered', () => {
    const silent = { ...attempt, connectMs: null, firstByteMs: null, totalMs: 30 };
    expect(phasesOf(view({ attempts: [silent] }))).toEqual([{ name: 'wait', fromMs: 1, toMs: 31 }]);
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
    ['that was malformed is with who asked', { outcome: 'error', status: 400, errorCode: null }, null],
  ])('%s', (_, more, href) => {
    expect(mendOf(view(more))?.href ?? null).toBe(href);
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
