import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createHealthEvents } from '../../../server/control/control-events.ts';
import { createHealthViews } from '../../../server/control/views/view-health.ts';
import { fakeRun } from '../routing/health/harness.ts';

const wallMs = Date.parse('2026-11-20T12:00:00Z');

function viewed(options: Parameters<typeof fakeRun>[0] = { counts: { a: 2, b: 1 } }) {
  const run = fakeRun(options);
  const views = createHealthViews(run.book, () => wallMs);
  const view = () => views.provider(run.target('a').provider);
  return { run, view, credential: (id: string) => views.credential('a', id) };
}

describe('the shown health of a provider', () => {
  test('that was never called is good, and nothing is measured', () => {
    expect(viewed().view()).toEqual({
      ...{ state: 'ok', failure: null, failedWith: null, failures: 0, failedAt: null, reason: null, until: null },
      ...{ answeredAt: null, firstByteMs: null, errorRate: null, models: [] },
    });
  });

  test('shows how fast it answered recently', () => {
    const { run, view } = viewed();
    for (const firstByteMs of [100, 200]) run.attempt('a', { firstByteMs });
    expect(view()).toMatchObject({ state: 'ok', firstByteMs: 120, errorRate: 0 });
    run.pass(3_600_000);
    expect(view()).toMatchObject({ firstByteMs: 120, errorRate: null });
  });

  test('is cooling if all requests to it are suspended, and shows until when and why', () => {
    const { run, view } = viewed();
    for (let count = 0; count < 3; count++) run.attempt('a', { failure: 'transient', failedWith: 502 });
    expect(view()).toMatchObject({
      ...{ state: 'cooling', failure: 'transient', failedWith: 502, until: wallMs + 1_000, errorRate: 1 },
      reason: 'it answers with errors (502)',
      models: [{ model: 'm', state: 'cooling', failure: 'transient' }],
    });
  });

  test.each([
    [503, 'it answers with errors (503)'],
    ['refused', 'it cannot be reached: connection refused'],
    ['dns', 'it cannot be reached: its host name has no address'],
    ['timeout', 'it cannot be reached: no connection in time'],
    [200, 'its answers break off or are damaged'],
    [null, 'its answers break off or are damaged'],
  ] as const)('tells errors from a service that cannot be reached: %s', (failedWith, reason) => {
    const { run, view } = viewed();
    for (let count = 0; count < 3; count++) run.attempt('a', { failure: 'transient', failedWith });
    expect(view()).toMatchObject({ failedWith, reason });
  });

  test('is degraded while one of its models is in cooldown, and good again once that has recovered', () => {
    const { run, view } = viewed();
    run.book.report({
      ...{ target: { ...run.target('a'), model: 'other' }, credentialId: 'c1', failure: null, isAnswer: false },
      ...{ firstByteMs: 10, retryAfterMs: null },
    });
    run.attempt('a', { failure: 'model-unavailable' });
    expect(view()).toMatchObject({ state: 'degraded', failure: 'model-unavailable', models: [{ model: 'm' }] });
    run.pass(5_000);
    for (let count = 0; count < 4; count++) run.attempt('a');
    expect(view()).toMatchObject({ state: 'ok', failure: null, models: [] });
  });

  test('is not that of one model that it lacks: the others, asked recently or not, are ready', () => {
    const { run, view } = viewed({ counts: { a: 1 } });
    run.attempt('a', { failure: 'model-unavailable' });
    expect(view()).toMatchObject({
      ...{ state: 'degraded', failure: 'model-unavailable', until: wallMs + 5_000 },
      models: [{ model: 'm', state: 'cooling' }],
    });
  });

  test('shows no time that has passed, however long ago', () => {
    const { run, view, credential } = viewed({ counts: { a: 1 } });
    for (let count = 0; count < 3; count++) run.attempt('a', { failure: 'transient' });
    run.attempt('a', { failure: 'quota' });
    for (const afterMs of [1_000, 20_000, 3_600_000]) {
      run.pass(afterMs);
      for (const each of [view(), ...view().models, credential('c1')])
        if (each.until !== null) expect(each.until).toBeGreaterThan(wallMs);
    }
    expect(view()).toMatchObject({ state: 'cooling', until: null });
  });

  test('is degraded where one of its credentials is out of quota', () => {
    const { run, view, credential } = viewed();
    run.attempt('a', { credential: 'c1' });
    run.attempt('a', { failure: 'quota', credential: 'c2' });
    expect(view()).toMatchObject({ state: 'degraded', failure: 'quota', models: [] });
    expect(credential('c1')).toMatchObject({ state: 'ok', until: null });
    expect(credential('c2')).toMatchObject({ state: 'cooling', until: wallMs + 600_000 });
  });

  test('of a credential is its own, before that of its models', () => {
    const { run, credential } = viewed();
    run.attempt('a', { failure: 'rate-limit', credential: 'c2', retryAfterMs: 3_600_000 });
    expect(credential('c2')).toMatchObject({ failure: 'rate-limit' });
    run.attempt('a', { failure: 'quota', credential: 'c2' });
    expect(credential('c2')).toMatchObject({ failure: 'quota', until: wallMs + 600_000 });
  });

  test('is refused once all its credentials are', () => {
    const { run, view, credential } = viewed();
    run.attempt('a', { failure: 'credential', credential: 'c1' });
    expect(view()).toMatchObject({ state: 'degraded', failure: 'credential' });
    run.attempt('a', { failure: 'credential', credential: 'c2' });
    expect(view()).toMatchObject({ state: 'refused', failure: 'credential', until: null });
    expect(credential('c1')).toMatchObject({ state: 'refused', failure: 'credential', until: null });
  });

  test('is that of its last requests until it has answered, whatever the time', () => {
    const { run, view } = viewed({ counts: { a: 1 } });
    run.attempt('a');
    run.pass(3_600_000);
    run.attempt('a', { failure: 'transient', failedWith: 500 });
    expect(view()).toMatchObject({ state: 'ok', failure: 'transient', failures: 1, failedAt: wallMs, models: [{}] });
    for (let count = 0; count < 2; count++) run.attempt('a', { failure: 'transient', failedWith: 500 });
    expect(view()).toMatchObject({ state: 'cooling', failures: 3, until: wallMs + 1_000 });
    run.pass(3_600_000);
    expect(view()).toMatchObject({ state: 'cooling', failures: 3, failedAt: wallMs - 3_600_000, until: null });
    run.book.reset('a');
    expect(view()).toMatchObject({ state: 'ok', failure: 'transient', failures: 3 });
    run.attempt('a');
    expect(view()).toMatchObject({
      state: 'ok',
      failure: null,
      failures: 0,
      failedAt: null,
      answeredAt: wallMs,
      models: [],
    });
  });

  test('is that of the model that failed last, with the others after it', () => {
    const { run, view } = viewed({ counts: { a: 1 } });
    const fail = (model: string, failure: 'stream-broken' | 'rate-limit' | 'model-unavailable', retryAfterMs = 0) => {
      run.pass(1_000);
      const report = { target: { ...run.target('a'), model }, credentialId: 'c1', failure, retryAfterMs };
      run.book.report({ ...report, isAnswer: true, firstByteMs: null });
    };
    fail('nova-mini', 'stream-broken', 15_000);
    fail('nova-large', 'rate-limit', 1_000);
    const large = { failure: 'rate-limit', failedAt: wallMs, failures: 1 };
    expect(view()).toMatchObject({ ...large, models: [{ model: 'nova-large', ...large }, { model: 'nova-mini' }] });
    // That a model does not exist says nothing about the service.
    fail('typo', 'model-unavailable');
    expect(view()).toMatchObject({ failure: 'rate-limit', models: [{ model: 'typo' }, { model: 'nova-large' }, {}] });
    fail('nova-mini', 'stream-broken');
    expect(view()).toMatchObject({ failure: 'stream-broken', failedAt: wallMs, failures: 2 });
  });

  test('is proved by a test of the model that failed', () => {
    const { run, view } = viewed({ counts: { a: 1 } });
    for (let count = 0; count < 3; count++) run.attempt('a', { failure: 'transient' });
    run.book.proved(run.target('a'));
    expect(view()).toMatchObject({ state: 'ok', failure: null, answeredAt: wallMs, models: [] });
    expect(run.order()[0]).toBe('a');
  });

  test('is that of the network where its models cannot be asked for, until anything of it answers', () => {
    const { run, view } = viewed({ counts: { a: 1 } });
    run.book.listUnanswered('a', { failure: 'transient', failedWith: 'refused' });
    expect(view()).toMatchObject({ state: 'cooling', failure: 'transient', failedWith: 'refused', until: null });
    expect(run.order()[0]).toBe('a');
    run.attempt('a');
    expect(view()).toMatchObject({ state: 'ok', failure: null });
    for (let count = 0; count < 3; count++) run.attempt('a', { failure: 'transient', failedWith: 'dns' });
    run.book.listAnswered('a');
    expect(view()).toMatchObject({ state: 'ok', failure: null });
    for (let count = 0; count < 3; count++) run.attempt('a', { failure: 'transient', failedWith: 500 });
    run.book.listAnswered('a');
    expect(view()).toMatchObject({ state: 'cooling', failedWith: 500 });
  });

  test('is refused where its models cannot be asked for with the credential, unless requests are answered with it', () => {
    const { run, view } = viewed({ counts: { a: 1 } });
    const refused = { failure: 'credential', failedWith: 401 } as const;
    run.book.listUnanswered('a', refused);
    expect(view()).toMatchObject({ failure: 'credential', failedWith: 401 });
    run.attempt('a');
    run.book.listUnanswered('a', refused);
    expect(view()).toMatchObject({ state: 'ok', failure: null });
  });

  test('does not change with time alone where another model answered', () => {
    const { run, view } = viewed({ counts: { a: 1 } });
    run.book.report({
      ...{ target: { ...run.target('a'), model: 'other' }, credentialId: 'c1', failure: null, isAnswer: false },
      ...{ firstByteMs: 10, retryAfterMs: null },
    });
    for (let count = 0; count < 3; count++) run.attempt('a', { failure: 'transient' });
    expect(view()).toMatchObject({ state: 'degraded', models: [{ model: 'm' }] });
    run.pass(3_600_000);
    expect(view()).toMatchObject({ state: 'degraded', models: [{ model: 'm' }] });
  });

  test('is degraded where a fifth of its answers fail', () => {
    const { run, view } = viewed();
    for (let count = 1; count <= 50; count++) {
      run.attempt('a', { failure: count % 4 === 0 ? 'transient' : null });
      run.pass(100);
    }
    expect(view()).toMatchObject({ state: 'degraded', failure: null });
    expect(view().errorRate).toBeCloseTo(0.25, 1);
  });
});

describe('changes of health are sent', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('once for many changes at the same time', () => {
    const told: string[] = [];
    const teller = createHealthEvents((id) => told.push(id));
    for (let count = 0; count < 1_000; count++) teller.changed(count % 2 === 0 ? 'a' : 'b', true);
    expect(told).toEqual([]);
    vi.advanceTimersByTime(300);
    expect(told).toEqual(['a', 'b']);
    teller.stop();
  });

  test('later if only a measurement changed, and at once if more did', () => {
    const told: string[] = [];
    const teller = createHealthEvents((id) => told.push(id));
    teller.changed('a', false);
    vi.advanceTimersByTime(1_000);
    expect(told).toEqual([]);
    teller.changed('a', true);
    teller.changed('a', false);
    vi.advanceTimersByTime(300);
    expect(told).toEqual(['a']);
    teller.changed('a', false);
    vi.advanceTimersByTime(5_000);
    expect(told).toEqual(['a', 'a']);
    teller.stop();
    expect(vi.getTimerCount()).toBe(0);
  });

  test('no longer once it is stopped', () => {
    const tell = vi.fn();
    const teller = createHealthEvents(tell);
    teller.changed('a', true);
    teller.stop();
    vi.advanceTimersByTime(10_000);
    expect(tell).not.toHaveBeenCalled();
  });
});
