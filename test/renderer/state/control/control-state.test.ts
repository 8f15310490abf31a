import { describe, expect, it } from 'vitest';
import {
  type ControlState,
  initialState,
  keepEqualParts,
  withEvent,
} from '../../../../renderer/state/control/control-state.ts';
import { longestLiveList } from '../../../../renderer/state/requests/live-request.ts';
import type { ControlEvent } from '../../../../server/contract/events.ts';
import type { RequestRecord, RequestStarted } from '../../../../server/contract/ledger.ts';
import { finished, key, provider, snapshot, started } from '../../events.ts';

describe('the window’s state', () => {
  it('knows nothing before the first snapshot, whatever is told', () => {
    expect(stateAfter({ type: 'request-started', request: started('r1') })).toEqual(initialState);
  });

  it('is what the snapshot says', () => {
    const state = stateAfter(snapshot({ keys: [key('k1')] }));
    expect(state.views?.keys.map(({ id }) => id)).toEqual(['k1']);
    expect(state.requests).toEqual([]);
  });

  it('takes over the lists that changed and keeps the others', () => {
    const first = snapshot({ keys: [key('k1')], providers: [provider('p1')] });
    const state = stateAfter(first, { type: 'config-changed', status: first.status, keys: [] });
    expect(state.views?.keys).toEqual([]);
    expect(state.views?.providers.map(({ id }) => id)).toEqual(['p1']);
  });

  it('keeps the entries that a change leaves as they were, so that they are not drawn again', () => {
    const first = stateAfter(snapshot({ keys: [key('k1'), key('k2'), key('k3')] }));
    const keys = structuredClone([key('new'), key('k1'), { ...key('k2'), enabled: false }]);
    const { status } = snapshot();
    const views = withEvent(first, { type: 'config-changed', status, keys }).views;
    expect(views?.keys).toEqual(keys);
    expect(views?.keys.map((each) => first.views?.keys.includes(each))).toEqual([false, true, false]);
    expect(views?.status).toBe(first.views?.status);
  });

  it('replaces the one provider that changed', () => {
    const changed = { ...provider('p2'), modelNames: ['new'] };
    const state = stateAfter(snapshot({ providers: [provider('p1'), provider('p2')] }), {
      type: 'provider-changed',
      provider: changed,
    });
    expect(state.views?.providers).toEqual([provider('p1'), changed]);
  });

  it('takes over how much of limits is used, and leaves keys without limits as they are', () => {
    const first = snapshot({ keys: [key('k1'), key('k2')] });
    const meter = {
      kind: 'requests',
      budget: null,
      amount: 5,
      used: 3,
      unpriced: 0,
      pace: null,
      resetsAt: null,
    } as const;
    const state = stateAfter(first);
    const next = withEvent(state, { type: 'limit-use', keys: { k1: [meter] }, groups: {} });
    expect(next.views?.keys).toEqual([{ ...key('k1'), limitUse: [meter] }, key('k2')]);
    expect(next.views?.keys[1]).toBe(state.views?.keys[1]);
  });

  it('puts a new request on top, and its end in its place', () => {
    const state = stateAfter(snapshot(), start('r1'), start('r2'), end('r1'));
    expect(state.requests.map(({ id, outcome }) => [id, outcome])).toEqual([
      ['r2', null],
      ['r1', 'ok'],
    ]);
  });

  it('shows a request that was refused before it started', () => {
    expect(stateAfter(snapshot(), end('r1')).requests.map(({ id }) => id)).toEqual(['r1']);
  });

  it('does not let a request begin again that has ended', () => {
    const state = stateAfter(snapshot(), end('r1'), start('r1'));
    expect(state.requests.map(({ id, outcome }) => [id, outcome])).toEqual([['r1', 'ok']]);
  });

  it('keeps the newest requests only', () => {
    const ids = Array.from({ length: longestLiveList + 10 }, (_, index) => `r${index}`);
    const { requests } = stateAfter(snapshot(), ...ids.map((id) => start(id)));
    expect(requests.length).toBe(longestLiveList);
    expect(requests[0]?.id).toBe(ids.at(-1));
  });

  it('says of a key that it was used when a request with it starts', () => {
    const state = stateAfter(
      snapshot({ keys: [key('k1'), key('k2')] }),
      start('r1', { keyId: 'k2', startedAt: 5_000 }),
    );
    expect(state.views?.keys.map(({ lastUsedAt }) => lastUsedAt)).toEqual([null, 5_000]);
  });

  it('leaves the views as they are, the very object, when a request changes none', () => {
    const before = stateAfter(snapshot());
    expect(withEvent(before, start('r1')).views).toBe(before.views);
  });
});

function stateAfter(...events: ControlEvent[]): ControlState {
  return events.reduce(withEvent, initialState);
}

function start(id: string, more: Partial<RequestStarted> = {}): ControlEvent {
  return { type: 'request-started', request: { ...started(id), ...more } };
}

function end(id: string, more: Partial<RequestRecord> = {}): ControlEvent {
  return { type: 'request-finished', request: { ...finished(id), ...more } };
}

describe('parts that stay equal', () => {
  const old = {
    list: [
      { id: 'a', at: [1] },
      { id: 'b', at: [2] },
    ],
    plain: [[1], [2]],
    text: 'x',
    none: null,
  };

  it('are the same objects, and so is the whole if nothing differs', () => {
    expect(keepEqualParts(old, structuredClone(old))).toBe(old);
  });

  it.each<[string, unknown, boolean[]]>([
    ['by id, wherever they stand', { ...old, list: [{ id: 'c' }, ...structuredClone(old.list)] }, [false, true, true]],
    ['but not those that lost a member', { ...old, list: [{ id: 'a' }, { id: 'b', at: [2] }] }, [false, true]],
    ['but not those whose member differs', { ...old, list: [{ id: 'a', at: [1, 2] }] }, [false]],
  ])('%s', (_which, next, isKept) => {
    const kept = keepEqualParts(old, structuredClone(next)) as typeof old;
    expect(kept).toEqual(next);
    expect(kept.list.map((each) => old.list.includes(each))).toEqual(isKept);
    expect(kept.plain).toBe(old.plain);
  });

  it.each([
    [[1], { 0: 1 }],
    [{ 0: 1 }, [1]],
    [null, {}],
    [{}, null],
    [{ a: 1 }, { a: 1, b: undefined }],
  ])('never make %o of %o', (before, next) => {
    expect(keepEqualParts(before, next)).toStrictEqual(next);
  });
});
