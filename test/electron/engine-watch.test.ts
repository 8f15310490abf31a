import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { EngineState } from '../../electron/engine-host.ts';
import { type WatchedGateway, watchEngine } from '../../electron/engine-watch.ts';
import type { ControlEvent } from '../../server/contract/events.ts';
import type { RequestRecord } from '../../server/contract/ledger.ts';
import type { UsageView } from '../../server/contract/request-views.ts';
import { finishedRow } from '../server/store/sqlite/records.ts';

const lateEvening = new Date(2026, 10, 20, 23, 59, 0);
const nextDay = new Date(2026, 10, 21);

beforeEach(() => vi.useFakeTimers({ now: lateEvening, toFake: ['Date', 'setTimeout', 'clearTimeout'] }));
afterEach(() => vi.useRealTimers());

const usage: UsageView = {
  ...{ name: '2026-11-20', requests: 7, failed: 0, refused: 0, inputTokens: 2, outputTokens: 1 },
  ...{
    cachedInputTokens: 0,
    reasoningTokens: 0,
    seconds: 0,
    characters: 0,
    images: 0,
    costUsd: 0.5,
    unpricedRequests: 0,
  },
};

/** An engine with seven requests in the evening and none since. */
function start() {
  let hear: Parameters<WatchedGateway['onEvent']>[0] = () => {};
  const gateway: WatchedGateway = {
    query: async ({ sinceMs = 0 }) => (sinceMs < nextDay.getTime() ? [usage] : []),
    onEvent(listener) {
      hear = listener;
      return () => {};
    },
  };
  let state: EngineState = { kind: 'off' };
  let tell: (state: EngineState) => void = () => {};
  const host = {
    get state() {
      return state;
    },
    gateway,
    onChange(listener: (state: EngineState) => void) {
      tell = listener;
      return () => {};
    },
  };
  const watch = watchEngine({ host, onChange: () => {}, onEvent: () => {} });
  const become = (next: EngineState) => {
    state = next;
    tell(next);
  };
  become({ kind: 'serving', baseUrl: 'http://127.0.0.1:1/v1' });
  return { watch, become, hear: (event: ControlEvent) => hear({ event, revision: 1 }) };
}

const evening = { requests: 7, tokens: 3, costUsd: 0.5 };
const nothingYet = { requests: 0, tokens: 0, costUsd: 0 };

describe('today’s numbers', () => {
  it('restart at midnight, without a request', async () => {
    const { watch } = start();
    await vi.advanceTimersByTimeAsync(59_000);
    expect(watch.facts.today).toEqual(evening);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(watch.facts.today).toEqual(nothingYet);
    expect(vi.getTimerCount()).toBe(1);
  });

  it('are those of the day on which the machine wakes', async () => {
    const { watch } = start();
    await vi.advanceTimersByTimeAsync(0);
    // Timers stop during sleep, but the wall clock does not.
    vi.setSystemTime(nextDay);
    watch.recount();
    await vi.advanceTimersByTimeAsync(0);
    expect(watch.facts.today).toEqual(nothingYet);
  });

  it('are not counted once the engine is off', async () => {
    const { watch, become } = start();
    await vi.advanceTimersByTimeAsync(0);
    become({ kind: 'off' });
    watch.recount();
    expect(vi.getTimerCount()).toBe(0);
  });
});

it('the last error is of a request that failed, and none that Sluice refused or that failed on purpose', () => {
  const { watch, hear } = start();
  const end = (id: string, more: Partial<RequestRecord>) =>
    hear({ type: 'request-finished', request: finishedRow(id, { outcome: 'error', ...more }) });
  end('req_refused', { provider: null, status: 404 });
  end('req_on_purpose', { status: 500, fault: 'error' });
  expect(watch.facts.lastError).toBeNull();
  end('req_failed', { status: 502, modelAsked: 'm', errorCode: 'upstream_unreachable' });
  end('req_refused_later', { provider: null, status: 429 });
  expect(watch.facts.lastError).toEqual({ requestId: 'req_failed', summary: 'm: upstream_unreachable' });
});
