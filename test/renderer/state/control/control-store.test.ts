import { describe, expect, it } from 'vitest';
import { type ControlApi, ControlError, type ControlListener } from '../../../../renderer/state/api/api.ts';
import { createControlStore, createFindById } from '../../../../renderer/state/control/control-store.ts';
import { maxReported } from '../../../../server/contract/find.ts';
import { snapshot, status } from '../../events.ts';

describe('the window’s store', () => {
  it('shows what a command did only once the engine tells it', async () => {
    const { store, engine } = createStore();
    engine.onConnection('open');
    engine.onEvent(snapshot());
    let isDone = false;
    const command = store.execute({ type: 'key.revoke', id: 'k1' }).then(() => {
      isDone = true;
    });
    await new Promise(setImmediate);
    expect([isDone, store.state().views?.status.revision]).toEqual([false, 1]);
    engine.onEvent({ type: 'config-changed', status: status(2) });
    await command;
    expect(store.state().views?.status.revision).toBe(2);
  });

  it('does not wait for an event that a lost connection will not bring', async () => {
    const { store, engine } = createStore();
    engine.onConnection('open');
    engine.onEvent(snapshot());
    const command = store.execute({ type: 'key.revoke', id: 'k1' });
    engine.onConnection('lost');
    expect(await command).toEqual({ revision: 2 });
  });

  it('says of a question that it was not answered, and of a command that nothing was changed', async () => {
    const unreachable = () => Promise.reject(new ControlError('unreachable', 'fetch failed'));
    const { store } = createStore({ execute: unreachable, query: unreachable });
    await expect(store.query({ type: 'status' })).rejects.toMatchObject({ code: 'unanswered' });
    await expect(store.execute({ type: 'key.revoke', id: 'k1' })).rejects.toMatchObject({ code: 'unreachable' });
  });

  it('tells of many events at once, when it is time to draw', () => {
    const { store, engine, draw } = createStore();
    let told = 0;
    store.subscribe(() => told++);
    engine.onConnection('open');
    engine.onEvent(snapshot());
    engine.onEvent({ type: 'config-changed', status: status(2) });
    expect(told).toBe(0);
    draw();
    expect(told).toBe(1);
  });
});

/**
 * Creates a store on an engine that executes every command as revision 2 and sends the events that the test specifies.
 */
function createStore(more: Partial<ControlApi> = {}) {
  let listener: ControlListener | undefined;
  const api = {
    execute: async () => ({ revision: 2 }),
    query: () => Promise.reject(new Error('nothing is asked')),
    subscribe(heard: ControlListener) {
      listener = heard;
      return { retry() {}, stop() {} };
    },
    ...more,
  };
  const frames: (() => void)[] = [];
  const store = createControlStore(api as ControlApi, (callback) => frames.push(callback));
  if (!listener) throw new Error('the store does not listen');
  const draw = () => {
    for (const frame of frames.splice(0)) frame();
  };
  return { store, engine: listener, draw };
}

/** Knows every id but `gone`. */
function finder() {
  const asked: { type: string; ids: readonly string[] }[] = [];
  const findById = createFindById((async ({ type, ids }: { type: string; ids: string[] }) => {
    asked.push({ type, ids });
    return { found: ids.filter((id) => id !== 'gone').map((id) => ({ id })), total: ids.length };
  }) as unknown as Parameters<typeof createFindById>[0]);
  return { asked, findById };
}

it('asks once for all that is asked for in the same turn, and again later', async () => {
  const { asked, findById } = finder();
  const views = await Promise.all([findById('key', 'k1'), findById('key', 'k2'), findById('key', 'k1')]);
  expect(views.map((view) => view?.id)).toEqual(['k1', 'k2', 'k1']);
  await findById('key', 'k1');
  expect(asked).toEqual([
    { type: 'find-keys', ids: ['k1', 'k2'] },
    { type: 'find-keys', ids: ['k1'] },
  ]);
});

it('asks for keys and groups apart, and says what is not there', async () => {
  const { asked, findById } = finder();
  const [key, group] = await Promise.all([findById('key', 'gone'), findById('group', 'g1')]);
  expect([key, group]).toEqual([null, { id: 'g1' }]);
  expect(asked.map(({ type }) => type).toSorted()).toEqual(['find-groups', 'find-keys']);
});

it('asks for no more at once than is answered', async () => {
  const { asked, findById } = finder();
  const ids = Array.from({ length: maxReported + 1 }, (_, index) => `k${index}`);
  const views = await Promise.all(ids.map((id) => findById('key', id)));
  expect(views.map((view) => view?.id)).toEqual(ids);
  expect(asked.map((question) => question.ids.length)).toEqual([maxReported, 1]);
});
