import { describe, expect, it } from 'vitest';
import { type ControlApi, ControlError, type ControlListener } from '../../../../renderer/state/api/api.ts';
import { createControlStore } from '../../../../renderer/state/control/control-store.ts';
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
